/** What a transform may return: fields of a run, which override those of its mapping. */
import { nearestOf } from "../../config/index.ts";
import type { Json } from "../../contract/index.ts";
import { thinkingLevels } from "../runs/agent.ts";
import {
  FieldProblem,
  type Fields,
  readBoolean,
  readChoice,
  readObject,
  readPositive,
  readString,
  readText,
} from "../runs/fields.ts";
import { wakeModes } from "../runs/wake.ts";

const anyNumber = Number.MAX_VALUE;
const optionalText = (fields: Fields, name: string) =>
  readString(fields, name, { maxLength: anyNumber, allowBlank: true });

/** The fields, and how each is read by itself. Path, signature and body are not among them. */
const overridable: Readonly<Record<string, (fields: Fields, name: string) => unknown>> = {
  action: (fields, name) => readChoice(fields, name, ["wake", "agent"]),
  ...{ message: readText, text: readText, name: optionalText, agentId: optionalText, sessionKey: optionalText },
  sessionMode: (fields, name) => readChoice(fields, name, ["isolated", "persistent"]),
  wakeMode: (fields, name) => readChoice(fields, name, wakeModes),
  ...{ deliver: readBoolean, channel: optionalText, to: optionalText, platform: readObject, model: optionalText },
  thinking: (fields, name) => readChoice(fields, name, thinkingLevels),
  timeoutSeconds: (fields, name) => readPositive(fields, name, anyNumber),
  ...{ deliverOnly: readBoolean, allowUnsafeExternalContent: readBoolean },
};

/** The fields in a result that override those of the mapping; others have no effect. */
export function overridesIn(result: { readonly [name: string]: Json }): Fields {
  return Object.fromEntries(Object.entries(result).filter(([name]) => Object.hasOwn(overridable, name)));
}

/** One sentence for each unknown name in a result; most are misspelled. */
export function unknownFields(result: { readonly [name: string]: Json }): readonly string[] {
  return Object.keys(result).flatMap((name) => {
    if (Object.hasOwn(overridable, name)) return [];
    const meant = nearestOf(name, Object.keys(overridable));
    return [`${name} is not a field of a run${meant === undefined ? "" : `; did you mean ${meant}?`}`];
  });
}

/** What is wrong with a result by itself, one sentence each. Whether a message is missing depends on the mapping. */
export function resultProblems(result: { readonly [name: string]: Json }): readonly string[] {
  const wrong = Object.entries(overridable).flatMap(([name, read]) => {
    if (!Object.hasOwn(result, name)) return [];
    try {
      read(result, name);
      return [];
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      return [error.message.replace(/\.$/, "")];
    }
  });
  return [...unknownFields(result), ...wrong];
}
