"""Prints the schemas that pydantic and openai's Python helpers generate from models, as JSON lines {"name",
"schema"}."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any, Literal, Optional, Union
from uuid import UUID

import openai
from openai.lib._pydantic import to_strict_json_schema
from pydantic import AnyUrl, BaseModel, ConfigDict, EmailStr, Field, HttpUrl, SecretStr, TypeAdapter, UUID4, conlist, constr


class Color(str, Enum):
    red = "red"
    green = "green"
    blue = "blue"


class Level(IntEnum):
    low = 1
    middle = 5
    high = 10


class Address(BaseModel):
    street: str
    city: str = Field(min_length=1, max_length=80)
    zip_code: str = Field(pattern=r"^\d{5}(-\d{4})?$")
    country: str = Field(default="DE", pattern="^[A-Z]{2}$")


class Customer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: UUID
    name: str
    email: EmailStr
    website: Optional[HttpUrl] = None
    born: date | None = None
    addresses: list[Address] = Field(min_length=1, max_length=3)


class LineItem(BaseModel):
    sku: Annotated[str, Field(pattern=r"^[A-Z]{3}-\d{4,6}$")]
    quantity: int = Field(gt=0, le=1000)
    price: float = Field(ge=0, multiple_of=0.01)


class Invoice(BaseModel):
    number: int = Field(ge=1)
    customer: Customer
    items: list[LineItem]
    issued: datetime
    due_in: timedelta
    total: Decimal
    paid: bool = False


class Node(BaseModel):
    value: int
    left: Optional["Node"] = None
    right: Optional["Node"] = None


class Folder(BaseModel):
    name: str
    files: list[str] = []
    folders: list["Folder"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: str


class Bird(BaseModel):
    kind: Literal["bird"]
    wingspan_cm: float = Field(gt=0, lt=400)


class Owner(BaseModel):
    name: str
    pet: Annotated[Union[Cat, Dog, Bird], Field(discriminator="kind")]
    others: list[Union[Cat, Dog]] = []


class Literal_(BaseModel):
    op: Literal["literal"] = "literal"
    value: float


class Binary(BaseModel):
    op: Literal["add", "subtract", "multiply"]
    left: "Expression"
    right: "Expression"


class Negate(BaseModel):
    op: Literal["negate"]
    of: "Expression"


Expression = Annotated[Union[Literal_, Binary, Negate], Field(discriminator="op")]


class Formula(BaseModel):
    name: str
    body: Expression


class Sensor(BaseModel):
    address: IPv4Address
    fallback: IPv6Address | None
    reading: tuple[float, float, float]
    samples: conlist(int, min_length=2, max_length=6)
    tags: set[str]
    level: Level
    at: time


class Settings(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"theme": "dark"}]})
    theme: Literal["light", "dark", None]
    limits: dict[str, int]
    features: dict[str, bool] = Field(default_factory=dict, max_length=5)
    api_key: SecretStr
    anything: Any = None
    session: UUID4 | None = None


class Page(BaseModel):
    items: list[Customer]
    next_cursor: str | None
    total: int = Field(ge=0)


class Entity(BaseModel):
    text: str = Field(description="The words as they stand in the article.")
    label: Literal["person", "place", "organization", "date"]
    confidence: float = Field(ge=0, le=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Extraction(BaseModel):
    """What an article says."""

    entities: list[Entity]
    language: constr(pattern="^[a-z]{2}$")
    summary: str = Field(min_length=20, max_length=400)


class Step(BaseModel):
    explanation: str
    output: str


class MathResponse(BaseModel):
    steps: list[Step]
    final_answer: str


class Slug(BaseModel):
    slug: str = Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=50)
    hex_color: str = Field(pattern="^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$")
    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    phone: str = Field(pattern=r"^\+[1-9]\d{6,14}$")
    time_of_day: str = Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")


class Sql(BaseModel):
    table: Literal["orders", "customers", "products"]
    columns: list[Literal["id", "status", "expected_delivery_date", "delivered_at"]]
    conditions: list["Condition"]
    order_by: Literal["asc", "desc"]


class Condition(BaseModel):
    column: str
    operator: Literal["=", ">", "<", "<=", ">=", "!="]
    value: Union[str, int, "DynamicValue"]


class DynamicValue(BaseModel):
    column_name: str


class Ui(BaseModel):
    type: Literal["div", "button", "header", "section", "field", "form"]
    label: str
    children: list["Ui"]
    attributes: list["Attribute"]


class Attribute(BaseModel):
    name: str
    value: str


class Coupled(BaseModel):
    first: "Other | None"
    weights: dict[str, float]


class Other(BaseModel):
    second: Coupled | None
    point: tuple[int, str]


class Numbers(BaseModel):
    even: int = Field(multiple_of=2, ge=-100, le=100)
    half: float = Field(multiple_of=0.5)
    tiny: float = Field(gt=0, lt=0.001)
    big: int = Field(ge=9_000_000_000_000_000, le=9_000_000_000_000_100)
    cents: Decimal = Field(max_digits=8, decimal_places=2)


class Link(BaseModel):
    url: AnyUrl
    kind: Color | Level
    rank: int | float | str | None


STRICT = [
    Address, Customer, LineItem, Node, Folder, Owner, Formula, Sensor, Page, Extraction, MathResponse, Slug, Sql, Ui,
    Coupled, Numbers, Link,
]
PLAIN = [Invoice, Customer, Node, Folder, Owner, Formula, Sensor, Settings, Slug, Numbers, Coupled, Link]


def show(name, schema):
    print(json.dumps({"name": name, "schema": schema}))


def main():
    for model in STRICT:
        show(f"openai-python to_strict_json_schema {model.__name__}", to_strict_json_schema(model))
    for model in [Customer, LineItem, Owner, Sql, Sensor]:
        tool = openai.pydantic_function_tool(model)
        show(f"openai-python pydantic_function_tool {model.__name__}", tool["function"]["parameters"])
    for model in PLAIN:
        show(f"pydantic {model.__name__}", model.model_json_schema())
    for model in [Invoice, Settings, Folder]:
        show(f"pydantic {model.__name__} serialization", model.model_json_schema(mode="serialization"))
    listed = {
        "list of entities": list[Entity],
        "map of lists": dict[str, list[int]],
        "union of scalars": Union[int, str, None],
        "unique colors": set[Color],
        "dates by name": dict[constr(pattern="^[a-z_]+$"), date],
    }
    for name, annotation in listed.items():
        schema = TypeAdapter(annotation).json_schema()
        show(f"pydantic TypeAdapter {name}", schema)


if __name__ == "__main__":
    main()
