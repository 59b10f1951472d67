import Type from "typebox";
import { annotate } from "./annotations.ts";

const limit = (description: string) =>
  Type.Optional(Type.Number(annotate({ fallback: 0 }, { minimum: 0, description })));

const budgetOf = (description: string) =>
  Type.Object(
    {
      perRunTokens: limit(
        "Tokens in one run. At the limit the model gets no more tools, and is asked for a closing sentence.",
      ),
      perDayTokens: limit("Tokens in a day."),
      perDayUsd: limit("US dollars in a day."),
      perMonthTokens: limit("Tokens in a calendar month."),
      perMonthUsd: limit("US dollars in a calendar month."),
      perSenderPerDayTokens: limit("Tokens in a day for each person who writes in a chat."),
      perSenderPerDayUsd: limit("US dollars in a day for each person who writes in a chat."),
      timezone: Type.Optional(
        Type.String(
          annotate(
            { expects: "an IANA time zone such as Europe/Berlin, or UTC" },
            {
              pattern: "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
              description:
                "Time zone in which days and months begin. Default: that of the top-level budget, else " +
                "agents.defaults.timezone, else the host's.",
            },
          ),
        ),
      ),
      warnAt: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1,
          description:
            "Share of a limit at which the owner is notified. Default: 0.8, that is 80 %; 1: only at the limit.",
        }),
      ),
      onUnpriced: Type.Optional(
        Type.Enum(["refuse", "allow"], {
          description:
            "Whether a model without a known price may be called while a limit in US dollars applies. Default: refuse.",
        }),
      ),
    },
    annotate({ fallback: { perRunTokens: 0 } }, { description }),
  );

/** For `agents.defaults` and for an agent. */
export const budgetSchema = Type.Optional(
  budgetOf("Limits of model use of each agent; at a limit its model is not called."),
);

export const totalBudgetSchema = Type.Optional(budgetOf("Limits of model use of all agents together."));

const price = (description: string) => Type.Number({ minimum: 0, description });

export const pricesSchema = Type.Record(
  Type.String(),
  Type.Object(
    {
      input: Type.Optional(price("A million tokens of requests.")),
      output: Type.Optional(price("A million tokens of replies.")),
      minute: Type.Optional(price("A minute of sound that is transcribed or spoken, for a model of models.speech.")),
      cacheRead: Type.Optional(price("A million tokens that the server reads from its cache. Default: as input.")),
      cacheWrite: Type.Optional(price("A million tokens that the server writes to its cache. Default: as input.")),
    },
    annotate({ whole: true }, { description: "Prices of one model in US dollars; 0 for a model that costs nothing." }),
  ),
  {
    default: {},
    description:
      "Prices, by provider/model, or provider/* for every model of a provider. They come before those that " +
      "the gateway knows.",
  },
);
