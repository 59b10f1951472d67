/** Schema of `models`: the servers of models, and what is known about single models. */
import Type from "typebox";
import { annotate, secretSchema } from "./annotations.ts";
import { pricesSchema } from "./budget.ts";
import { speechSchema } from "./speech.ts";

const contextTokens = {
  minimum: 256,
  maximum: 100_000_000,
  description:
    "Tokens of a request and its reply together. Absent: what the server's refusals, or the list of known models, say.",
};

const knownModel = {
  contextTokens: Type.Optional(Type.Integer(contextTokens)),
  images: Type.Optional(
    Type.Boolean({
      description: "false: it accepts no images and other files, so messages with files go to a fallback that may.",
    }),
  ),
  tools: Type.Optional(
    Type.Boolean({ description: "false: it calls no tools, so turns with tools go to a fallback that may." }),
  ),
  audio: Type.Optional(
    Type.Boolean({
      description:
        "true: it listens to sound files itself, so it is sent voice messages beside their words. false: it is sent " +
        "no sound files. Absent: only WAV and MP3.",
    }),
  ),
  cacheMarks: Type.Optional(
    Type.Boolean({
      description:
        "Whether requests mark what the server may cache. Absent: only where the provider's own protocol has marks.",
    }),
  ),
};

/** The list is the form of other programs of this kind, whose files people paste. */
const knownModelsSchema = Type.Union(
  [
    Type.Record(Type.String(), Type.Object(knownModel, { description: "One model." })),
    Type.Array(
      Type.Object({
        id: Type.String({ minLength: 1, description: "Its name after the slash." }),
        ...knownModel,
        contextWindow: Type.Optional(Type.Integer({ ...contextTokens, description: "The same as contextTokens." })),
        input: Type.Optional(
          Type.Array(Type.String(), {
            description: "What it accepts. Without image, it accepts no images; audio is the same as audio: true.",
          }),
        ),
      }),
    ),
  ],
  {
    description:
      "What is known about single models, by the name after the slash: { contextTokens, images, audio, " +
      "tools, cacheMarks }. A list of { id, contextWindow, input } is read as well. Decides which fallback is " +
      "suitable.",
  },
);

export const modelsSchema = Type.Object(
  {
    providers: Type.Record(
      Type.String(),
      Type.Object(
        {
          api: Type.Optional(
            Type.Enum(["openai", "anthropic", "google", "openai-compatible"], {
              description:
                "Protocol of the provider. Absent: that of the provider known by this name, else openai-compatible.",
            }),
          ),
          protocol: Type.Optional(
            Type.Enum(["chat"], {
              description:
                "chat: requests are chat completions, also where the package for the provider's own protocol is " +
                "installed.",
            }),
          ),
          baseUrl: Type.Optional(
            Type.String(
              annotate(
                { expects: "an http or https address" },
                {
                  pattern: "^https?://",
                  description: "Address of its API. Absent: that of the provider known by this name, or of the vendor.",
                },
              ),
            ),
          ),
          apiKey: Type.Optional(
            secretSchema(
              "Key of its API. Absent: the environment variable of the provider known by this name, such as " +
                "<NAME>_API_KEY.",
            ),
          ),
          headers: Type.Optional(
            Type.Record(Type.String(), secretSchema("One header."), { description: "Headers of each request." }),
          ),
          models: Type.Optional(knownModelsSchema),
        },
        annotate({ whole: true }, { description: "One provider; models are named <provider>/<model>." }),
      ),
      { default: {}, description: "Model providers, by name." },
    ),
    prices: pricesSchema,
    speech: speechSchema,
  },
  { default: {}, description: "Models and their providers." },
);
