/** How much of its model's context a turn takes: what its engine reports, for the trace and for what follows. */
import type { Inbound, Route } from "../../contract/index.ts";
import type { EngineProvider, ModelRoom, PluginLog, TurnRoom } from "../../sdk/contract.ts";
import { likelyTokens } from "../../sdk/contract.ts";
import { carried, turnNotes, type Visit } from "../../stations/index.ts";
import type { Asker } from "../spending/asker.ts";
import { renderTokens } from "../spending/wording.ts";
import type { ModelRooms } from "./model-rooms.ts";

/** What is known of a turn's requests. */
export interface TurnFill {
  readonly inbound: Inbound;
  readonly route: Route;
  readonly asker: Asker;
  /** User turns that a model reads at most, and those that this one has read. */
  readonly userTurns: number;
  readonly readTurns: number;
  /** The model whose context the conversation is kept within. */
  readonly model: string;
  readonly room: ModelRoom;
  /**
   * Tokens of the first request. Later ones of the same turn repeat it with the results of tools, which do not belong
   * to the conversation.
   */
  first?: number;
  /** Messages that did not fit. */
  leftOut: number;
}

export const turnFill = carried<TurnFill>("turnFill");

/** The room of a turn for its engine. Notes in the visit what the engine reports. */
export function createTurnRoom(
  models: Readonly<Record<string, ModelRoom>>,
  {
    fill,
    visit,
    rooms,
    providers,
    log,
  }: {
    readonly fill: TurnFill | undefined;
    readonly visit: Visit;
    readonly rooms: ModelRooms;
    readonly providers: Readonly<Record<string, EngineProvider>>;
    readonly log: Pick<PluginLog, "debug">;
  },
): TurnRoom {
  const note = (code: string, detail: string) => {
    const notes = visit.get(turnNotes) ?? [];
    notes.push({ code, detail });
    visit.set(turnNotes, notes);
  };
  return {
    models,
    async counted({ model, sizes, inputTokens, leftOut = 0 }) {
      const room = models[model];
      const tokens = inputTokens ?? (room === undefined ? 0 : likelyTokens(room, sizes));
      log.debug({ model, tokens, room: room?.tokens, leftOut }, "a model has answered");
      if (fill !== undefined && model === fill.model && fill.first === undefined) {
        fill.first = tokens;
        fill.leftOut = leftOut;
      }
      if (leftOut > 0) note("context_left_out", `${leftOut} earlier messages did not fit into ${model}`);
      if (inputTokens !== undefined) await rooms.counted({ model, sizes, inputTokens }, providers);
    },
    async refused(request) {
      const room = await rooms.refused(request, providers);
      note("context_learned", `${request.model} takes ${renderTokens(room.tokens)} tokens, as its refusal shows`);
      return room;
    },
  };
}
