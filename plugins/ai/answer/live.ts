/**
 * What is shown of a step while it is under way. It passes through the AI SDK beside the parts of the model, as raw
 * parts: the SDK itself gets a step only when it is complete, so that a beginning that is void is in no later request.
 */
import type { ModelPart } from "../library.ts";

export type Live =
  | { readonly type: "text" | "reasoning"; readonly delta: string }
  /** Another text begins, which is a paragraph of its own. */
  | { readonly type: "paragraph" }
  /** What this step has shown is void. */
  | { readonly type: "restart"; readonly reason: string };

class LivePart {
  readonly live: Live;

  constructor(live: Live) {
    this.live = live;
  }
}

export function livePart(live: Live): ModelPart {
  return { type: "raw", rawValue: new LivePart(live) };
}

/** What a part shows; `undefined` if it is of another kind. */
export function liveOf(part: { readonly type: string; readonly rawValue?: unknown }): Live | undefined {
  return part.type === "raw" && part.rawValue instanceof LivePart ? part.rawValue.live : undefined;
}
