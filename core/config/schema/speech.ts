/** Schema of `models.speech`: what transcribes the voice messages of people, and what speaks replies. */
import Type from "typebox";
import { annotate } from "./annotations.ts";

const model = (description: string) =>
  Type.Optional(
    Type.String(annotate({ expects: "a model as provider/model" }, { pattern: "^[^/\\s]+/\\S+$", description })),
  );

const command = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description }));

const limits = {
  timeoutSeconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 900, description: "Longest wait for it. Default: 120." }),
  ),
  memoryMb: Type.Optional(
    Type.Integer({
      minimum: 16,
      maximum: 1_048_576,
      description: "Memory that the program may use, in MiB; only on Linux. Default: 4096.",
    }),
  ),
};

const listener = Type.Object(
  {
    model: model("Model that transcribes, as provider/model; it is asked at /audio/transcriptions of its provider."),
    command: command(
      "Program that transcribes and its arguments, run without a shell; {file} is replaced by the path of the sound " +
        "file. It prints the text.",
    ),
    language: Type.Optional(
      Type.String(
        annotate(
          { expects: "a language code such as de" },
          { pattern: "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$", description: "Language that people speak, for a model." },
        ),
      ),
    ),
    ...limits,
  },
  annotate({ whole: true }, { description: "What transcribes: a model, or a program." }),
);

const speaker = Type.Object(
  {
    model: model("Model that speaks, as provider/model; it is asked at /audio/speech of its provider."),
    command: command(
      "Program that speaks and its arguments, run without a shell; {text} is replaced by the path of a text file, " +
        "and {output} by that of the sound file that it writes, as Ogg/Opus.",
    ),
    voice: Type.Optional(Type.String({ minLength: 1, description: "Name of the voice, for a model. Default: alloy." })),
    when: Type.Optional(
      Type.Enum(["asked", "inbound", "never"], {
        description:
          "When replies are spoken: `asked`, if the person asks for it; `inbound`, also if the message was spoken; " +
          "`never`. Default: asked.",
      }),
    ),
    ...limits,
  },
  annotate({ whole: true }, { description: "What speaks replies: a model, or a program." }),
);

export const speechSchema = Type.Optional(
  Type.Object(
    {
      in: Type.Optional(
        Type.Union([listener, Type.Array(listener)], {
          description:
            "What transcribes voice messages: { model } or { command }, or a list of them. The first one that works " +
            "is used.",
        }),
      ),
      out: Type.Optional(speaker),
    },
    { description: "Voice messages: what transcribes those of people, and what speaks replies." },
  ),
);
