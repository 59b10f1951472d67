/** Cuts the requests of one turn to the contexts of its models, and reports what their servers count and refuse. */
import type { EngineTurn } from "service-gateway/sdk";
import { estimateTokens, type ModelRoom, type TextSizes } from "service-gateway/sdk/tools";
import { hasFiles } from "../attachments.ts";
import type { ModelCall } from "../library.ts";
import { withMergedMessages } from "../prompt.ts";
import { type FitOptions, fitRequest } from "./fit.ts";

/** A request to a model. */
export interface SizedCall {
  readonly call: ModelCall;
  /** Absent if nothing is known about the context of the model. */
  readonly sizes?: TextSizes;
  /** Estimated. */
  readonly tokens?: number;
  /** That of the model, in tokens. */
  readonly room?: number;
  /** How many messages of the conversation are left out. */
  readonly leftOut: number;
  readonly isCut: boolean;
}

export interface RequestRoom {
  /** The call, as far as it fits into the model. Throws `message_too_long` or `model_context_full`. */
  fit(model: string, call: ModelCall): SizedCall;
  /** The server has answered, and counted so many tokens in the request; `undefined` if it does not count. */
  counted(model: string, asked: SizedCall, inputTokens: number | undefined): void;
  /** The server refused the request as too long. Resolves with whether a shorter one may be made. */
  refused(model: string, asked: SizedCall, named: number | undefined): Promise<boolean>;
}

/** Each refusal makes the room smaller. A server that refuses more often says so for another reason. */
const mostRefusals = 3;

export function createRequestRoom(
  room: EngineTurn["room"],
  options: Pick<FitOptions, "lasting" | "mayCutMessage">,
): RequestRoom {
  const rooms = new Map<string, ModelRoom>(Object.entries(room?.models ?? {}));
  const refusals = new Map<string, number>();
  return {
    fit(model, call) {
      const known = rooms.get(model);
      if (known === undefined) return { call: withMergedMessages(call), leftOut: 0, isCut: false };
      const fitted = fitRequest(call, { room: known, ...options });
      const tokens = estimateTokens(known, fitted.sizes);
      const isCut = fitted.call !== call;
      return { ...fitted, call: withMergedMessages(fitted.call), tokens, room: known.tokens, isCut };
    },
    counted(model, { call, sizes, leftOut }, inputTokens) {
      if (room === undefined || sizes === undefined) return;
      // How many tokens a picture takes is not known.
      const counted = inputTokens === undefined || hasFiles(call) ? {} : { inputTokens };
      // Not awaited: the reply does not depend on it.
      void room.counted({ model, sizes, ...counted, ...(leftOut > 0 && { leftOut }) }).catch(() => {});
    },
    async refused(model, { sizes }, named) {
      if (room === undefined || sizes === undefined) return false;
      const count = (refusals.get(model) ?? 0) + 1;
      refusals.set(model, count);
      rooms.set(model, await room.refused({ model, sizes, ...(named !== undefined && { named }) }));
      return count <= mostRefusals;
    },
  };
}
