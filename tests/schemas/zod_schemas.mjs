// Prints the schemas that zod and openai's Node helpers generate, as JSON lines {"name", "schema"}.
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import * as z3 from 'zod/v3';

const address = z.object({
  street: z.string(),
  city: z.string().min(1).max(80),
  zip: z.string().regex(/^\d{5}(-\d{4})?$/),
  country: z.string().length(2).regex(/^[A-Z]{2}$/),
});
const person = z.object({
  id: z.uuid(),
  name: z.string().min(1).describe('The full name.'),
  email: z.email(),
  website: z.url().nullable(),
  born: z.iso.date(),
  address,
});
const lineItem = z.object({
  sku: z.string().regex(/^[A-Z]{3}-\d{4,6}$/),
  quantity: z.number().int().positive().max(1000),
  price: z.number().nonnegative().multipleOf(0.01),
});
const order = z.object({
  id: z.ulid(),
  customer: person,
  lines: z.array(lineItem).min(1).max(20),
  placed: z.iso.datetime(),
  status: z.enum(['open', 'paid', 'shipped', 'returned']),
  note: z.string().nullable(),
});
const shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number().positive() }),
  z.object({ kind: z.literal('square'), side: z.number().positive() }),
  z.object({ kind: z.literal('polygon'), points: z.array(z.tuple([z.number(), z.number()])).min(3) }),
]);
const drawing = z.object({ title: z.string(), shapes: z.array(shape), background: shape.nullable() });
const tree = z.object({
  value: z.number(),
  get children() {
    return z.array(tree);
  },
});
const list = z.object({
  head: z.string(),
  get tail() {
    return list.nullable();
  },
});
const step = z.object({ explanation: z.string(), output: z.string() });
const reasoning = z.object({ steps: z.array(step), final_answer: z.string() });
const ui = z.object({
  type: z.enum(['div', 'button', 'header', 'section', 'field', 'form']),
  label: z.string(),
  get children() {
    return z.array(ui);
  },
  attributes: z.array(z.object({ name: z.string(), value: z.string() })),
});
const contact = z.object({
  phone: z.e164(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  starts: z.iso.time(),
  lasts: z.iso.duration(),
  session: z.cuid2(),
  short: z.nanoid(),
  mail: z.email().max(60),
});
const strings = z.object({
  slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/).max(40),
  color: z.string().regex(/^#(?:[0-9a-f]{3}){1,2}$/i),
  start: z.string().startsWith('mock-'),
  end: z.string().endsWith('.txt'),
  part: z.string().includes('needle'),
  lower: z.string().lowercase(),
  password: z.string().min(8).max(64).regex(/^(?=.*[A-Z])(?=.*\d).+$/),
});
const numbers = z.object({
  percent: z.number().min(0).max(100),
  even: z.int().multipleOf(2),
  small: z.number().gt(0).lt(0.001),
  int32: z.int32(),
  uint32: z.uint32(),
  float32: z.float32(),
  grade: z.union([z.literal(1), z.literal(2), z.literal(3)]),
});
const records = z.object({
  scores: z.record(z.string(), z.number()),
  byColor: z.record(z.enum(['red', 'green', 'blue']), z.int()),
  codes: z.record(z.string().regex(/^[a-z]{3}$/), z.boolean()),
});
const mixed = z.object({
  value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  pair: z.tuple([z.string(), z.int()]),
  rest: z.tuple([z.string()]).rest(z.number()),
  either: z.object({ a: z.string() }).or(z.object({ b: z.number() })),
  both: z.intersection(z.object({ left: z.string() }), z.object({ right: z.int() })),
  anything: z.unknown(),
  strict: z.strictObject({ yes: z.literal(true) }),
  loose: z.looseObject({ no: z.literal(false) }),
  byDefault: z.string().default('default'),
  optional: z.string().optional(),
  labels: z.set(z.string()).or(z.array(z.string())).optional().catch([]),
});
delete mixed.shape.labels; // a set has no schema

const old = z3.object({
  name: z3.string().min(2),
  email: z3.string().email(),
  id: z3.string().uuid(),
  at: z3.string().datetime(),
  site: z3.string().url().nullable(),
  tags: z3.array(z3.string()).min(1).max(4),
  rating: z3.number().int().min(1).max(5),
  choice: z3.union([z3.literal('a'), z3.literal('b')]),
  place: z3.object({ lat: z3.number().min(-90).max(90), lon: z3.number().min(-180).max(180) }),
});
const oldUnion = z3.object({
  event: z3.discriminatedUnion('type', [
    z3.object({ type: z3.literal('click'), x: z3.number(), y: z3.number() }),
    z3.object({ type: z3.literal('key'), code: z3.string().length(1) }),
  ]),
});
const oldTree = z3.object({ name: z3.string(), children: z3.lazy(() => z3.array(oldTree)) });

const show = (name, make) => {
  try {
    console.log(JSON.stringify({ name, schema: make() }));
  } catch (problem) {
    console.error(`${name}: refused by the helper itself: ${problem.message}`);
  }
};
const all = { address, person, lineItem, order, drawing, tree, list, reasoning, ui, contact, strings, numbers, records, mixed };

for (const [name, schema] of Object.entries(all)) {
  show(`zod toJSONSchema ${name}`, () => z.toJSONSchema(schema));
}
for (const name of ['address', 'reasoning', 'records']) {
  show(`zod toJSONSchema ${name} input`, () => z.toJSONSchema(all[name], { io: 'input', target: 'draft-7' }));
}
for (const name of ['address', 'person', 'lineItem', 'order', 'drawing', 'tree', 'list', 'reasoning', 'ui', 'contact', 'strings', 'numbers']) {
  show(`openai-node zodResponseFormat ${name}`, () => zodResponseFormat(all[name], name).json_schema.schema);
}
for (const [name, schema] of Object.entries({ old, oldUnion, oldTree })) {
  show(`openai-node zodResponseFormat ${name}, zod 3`, () => zodResponseFormat(schema, name).json_schema.schema);
}
show('openai-node zodFunction person', () => zodFunction({ name: 'person', parameters: person }).function.parameters);
show('openai-node zodFunction old, zod 3', () => zodFunction({ name: 'old', parameters: old }).function.parameters);
