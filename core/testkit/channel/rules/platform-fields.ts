/** What a reply contains of the platform's own. */
import { isDeepStrictEqual } from "node:util";
import { readPlatformFields } from "../../../channels/index.ts";
import type { Json } from "../../../contract/index.ts";
import { type Bench, never, shown, textReply } from "../bench.ts";
import type { Rule } from "../rule.ts";
import { partsOf } from "./render.ts";

/** The example of the fixtures, as the gateway passes it to `render`. */
function exampleOf({ definition: { id, platformFields }, fixtures }: Bench): Readonly<Record<string, Json>> {
  if (fixtures.platformFields === undefined)
    throw new Error("The channel declares platformFields. Give an example of them as fixtures.platformFields.");
  const live = { channel: id, ...(platformFields !== undefined && { platformFields }) };
  const read = readPlatformFields({ [id]: fixtures.platformFields }, live);
  if ("problem" in read) throw new Error(`The gateway refuses the example in fixtures.platformFields: ${read.problem}`);
  return { [id]: read.fields ?? null };
}

async function matches(bench: Bench): Promise<void> {
  exampleOf(bench);
}

async function isRendered(bench: Bench): Promise<void> {
  const platform = exampleOf(bench);
  const [bare, own] = [partsOf(bench, textReply("Hello")), partsOf(bench, textReply("Hello", { platform }))];
  if (isDeepStrictEqual(bare, own))
    throw new Error(
      `A reply with platform: ${shown(platform)} has the same parts as one without. Read reply.platform in render, ` +
        "or do not declare platformFields.",
    );
}

async function isAccepted(bench: Bench): Promise<void> {
  const platform = exampleOf(bench);
  const { address } = await bench.meet("Hello");
  for (const part of bench.connection.render(textReply("with its own fields", { platform }), address)) {
    const outcome = await bench.ending(bench.connection.send(part, address, never));
    if (outcome === "late" || "error" in outcome)
      throw new Error(`The platform rejects a message with the example in fixtures.platformFields: ${shown(outcome)}.`);
  }
  await bench.until(
    () => bench.platform.read().some((text) => text.includes("with its own fields")),
    () => `A message with the platform's own fields did not arrive. The person sees ${shown(bench.platform.read())}.`,
  );
}

const declares: Rule["declares"] = ({ platformFields }) => platformFields !== undefined;

export const platformFieldRules: readonly Rule[] = [
  { title: "platformFields > an example of the platform's own fields matches their schema", declares, run: matches },
  { title: "platformFields > render uses the platform's own fields", declares, run: isRendered },
  { title: "platformFields > the platform accepts its own fields", declares, needs: [], run: isAccepted },
];
