/** Which requests a mapping of hooks takes. */
import Type from "typebox";

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const whereSchema = Type.Union([
  scalar,
  Type.Array(scalar),
  Type.Object(
    { exists: Type.Boolean({ description: "Whether the payload has the path." }) },
    { additionalProperties: false },
  ),
  Type.Object(
    { matches: Type.String({ description: "Regular expression, run by a linear-time engine." }) },
    { additionalProperties: false },
  ),
]);

export const matchSchema = Type.Object(
  {
    path: Type.Optional(
      Type.String({ description: "Sub-path below hooks.path, exact; slashes at the ends are ignored." }),
    ),
    source: Type.Optional(Type.String({ description: "Equals the payload's field `source`." })),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
        description: "Header name to its exact value, or to a list of allowed values.",
      }),
    ),
    where: Type.Optional(
      Type.Record(Type.String(), whereSchema, {
        description: 'Payload path to an exact value, a list, { "exists": true } or { "matches": "<regex>" }.',
      }),
    ),
  },
  { description: "Which requests the mapping takes. All given parts must match; without any, every name matches." },
);
