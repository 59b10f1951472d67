/** The engine of the crash points: answers `<shape> <name> <parts>` with that many marked messages, always the same. */
import { setTimeout as pause } from "node:timers/promises";
import { defineEngine, type TurnEvent } from "../../../core/sdk/index.ts";
import { picture } from "../../../plugins/echo/picture.ts";
import { beginning, expectedParts } from "./parts.ts";

const buttons = [[{ text: "Yes", value: "yes" }]];

async function* run(asked: string, signal: AbortSignal): AsyncGenerator<TurnEvent> {
  const [shape = "plain", name = "", parts = "1"] = asked.split(" ");
  const text = expectedParts(name, Number(parts)).join("\n\n");
  if (shape === "grown" || shape === "buttons") {
    yield { type: "text", delta: beginning };
    // By now the preview is shown and recorded; its next edit would be a second later.
    await pause(600, undefined, { signal });
    yield { type: "text", delta: text.slice(beginning.length) };
    if (shape === "buttons") yield { type: "buttons", buttons };
  } else yield { type: "text", delta: text };
  if (shape === "album")
    for (const red of [255, 180, 90])
      yield { type: "media", media: { data: picture(red), fileName: `disc-${red}.png` } };
  yield { type: "done" };
}

export default defineEngine({
  id: "crash-scripted",
  version: "1.0.0",
  host: "^0.2.0",
  run: ({ inbound }, signal) => run(inbound.text.trim(), signal),
});
