/** The JSON Schema of a shape, for editors: it also has the ranges, which `readShape` leaves to whoever uses a value. */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Fields, Shape } from "./shape.ts";

/** The JSON Schema (2020-12) of what a shape describes; named shapes become `$ref`s to `#/$defs/<name>`. */
export function shapeSchema(shape: Shape): JsonObject {
  switch (shape.kind) {
    case "text":
      return { type: "string" };
    case "boolean":
      return { type: "boolean" };
    case "json":
      return {};
    case "number": {
      const { integer, minimum, maximum } = shape;
      return {
        type: integer ? "integer" : "number",
        ...(minimum === undefined ? {} : { minimum }),
        ...(maximum === undefined ? {} : { maximum }),
      };
    }
    case "enum":
      return { enum: [...shape.values] };
    case "list": {
      const { items, minimumItems } = shape;
      return {
        type: "array",
        items: shapeSchema(items),
        ...(minimumItems === undefined ? {} : { minItems: minimumItems }),
      };
    }
    case "map":
      return { type: "object", additionalProperties: shapeSchema(shape.values) };
    case "record": {
      const required = Object.keys(shape.fields).filter((key) => shape.fields[key]!.required === true);
      return {
        type: "object",
        properties: fieldSchemas(shape.fields),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
      };
    }
    case "union":
      return { anyOf: shape.options.map(shapeSchema) };
    case "named":
      return { $ref: `#/$defs/${shape.name}` };
  }
}

/** The schemas of a record's fields, with their descriptions and defaults. */
export function fieldSchemas(fields: Fields): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]): [string, JsonValue] => [key, {
      ...shapeSchema(field.shape),
      description: field.description,
      ...(field.default === undefined ? {} : { default: field.default }),
    }]),
  );
}
