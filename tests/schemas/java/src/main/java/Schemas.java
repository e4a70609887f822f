// Prints the schemas that openai-java derives from classes, one JSON line {"name", "schema"} each.

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonTypeName;
import com.openai.core.JsonSchemaLocalValidation;
import com.openai.core.JsonValue;
import com.openai.core.ObjectMappers;
import com.openai.models.ChatModel;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import io.swagger.v3.oas.annotations.media.ArraySchema;
import io.swagger.v3.oas.annotations.media.Schema;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

public class Schemas {
  static class Person {
    @JsonPropertyDescription("The first name and surname of the person.")
    public String name;
    public int birthYear;
    @JsonPropertyDescription("The year the person died, or 'present' if the person is living.")
    public String deathYear;
  }
  static class Book {
    public String title;
    public Person author;
    @JsonPropertyDescription("The year in which the book was first published.")
    @Schema(minimum = "1500")
    public int publicationYear;
    public String genre;
    @JsonIgnore public String isbn;
  }
  static class BookList {
    @ArraySchema(minItems = 1, maxItems = 20)
    public List<Book> books;
  }
  enum Priority { LOW, NORMAL, HIGH, URGENT }
  static class Ticket {
    public UUID id;
    public String summary;
    public Priority priority;
    public Optional<String> assignee;
    public List<String> labels;
    public OffsetDateTime created;
    public LocalDate due;
    public boolean closed;
  }
  static class Article {
    @Schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", minLength = 3, maxLength = 60)
    public String slug;
    @Schema(description = "The headline.", minLength = 5, maxLength = 120)
    public String headline;
    @Schema(format = "uri")
    public String link;
    @Schema(format = "email")
    public String contact;
    @ArraySchema(minItems = 2, maxItems = 5, uniqueItems = true, schema = @Schema(minLength = 2, maxLength = 12))
    public List<String> keywords;
  }
  static class Reading {
    @Schema(minimum = "-90", maximum = "90")
    public double latitude;
    @Schema(minimum = "-180", maximum = "180")
    public double longitude;
    @Schema(exclusiveMinimum = true, minimum = "0")
    public float pressure;
    @Schema(multipleOf = 0.5)
    public double celsius;
    public long sequence;
    public short channel;
    public byte gain;
  }
  static class Money {
    public BigDecimal amount;
    public String currency;
  }
  static class OrderLine {
    public String sku;
    @Schema(minimum = "1", maximum = "999")
    public int quantity;
    public Money price;
    public Optional<Money> discount;
  }
  static class Order {
    public UUID orderId;
    public List<OrderLine> lines;
    public Money total;
    public Optional<LocalDate> delivery;
    @JsonProperty("ship_to")
    public Address shipTo;
    @JsonProperty("bill_to")
    public Address billTo;
  }
  static class Address {
    public String street;
    public String city;
    public Optional<String> region;
    @Schema(pattern = "^[0-9]{5}(-[0-9]{4})?$")
    public String zip;
  }
  static class Category {
    public String label;
    public List<Category> children;
  }
  static class Employee {
    public String name;
    public Optional<Employee> manager;
    public Set<String> skills;
  }
  record Step(String explanation, String output) {}
  record MathReasoning(List<Step> steps, @JsonProperty("final_answer") String finalAnswer) {}
  static class Meeting {
    public LocalDate day;
    public LocalTime start;
    public Duration length;
    public URI room;
    public String[] guests;
  }
  static class Matrix {
    public List<List<Double>> rows;
    public int[] shape;
    public Character symbol;
  }
  @JsonTypeName("weather")
  static class GetWeather {
    @JsonPropertyDescription("The city and state, e.g. San Francisco, CA")
    public String location;
    public Unit unit;
    enum Unit { @JsonProperty("celsius") CELSIUS, @JsonProperty("fahrenheit") FAHRENHEIT }
  }

  public static void main(String[] arguments) throws Exception {
    Class<?>[] types = {Person.class, Book.class, BookList.class, Ticket.class, Article.class, Reading.class, OrderLine.class,
        Order.class, Category.class, Employee.class, MathReasoning.class, Meeting.class, Matrix.class, GetWeather.class};
    for (Class<?> type : types) {
      var parameters = ChatCompletionCreateParams.builder()
          .model(ChatModel.GPT_4O).addUserMessage("Hello.").responseFormat(type, JsonSchemaLocalValidation.NO).build();
      var format = parameters.rawParams().responseFormat().get().asJsonSchema().jsonSchema();
      String schema = ObjectMappers.jsonMapper().writeValueAsString(format._schema());
      System.out.println("{\"name\":\"" + type.getSimpleName() + "\",\"schema\":" + schema + "}");
    }
  }
}
