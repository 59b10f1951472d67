/** The gateway's store, in a process that kills itself by SIGKILL right before or after a write of one chat's reply. */
import type { Store } from "../../../core/state/store.ts";
import type { Aim } from "./aim.ts";

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

/** Counts the writes of one chat, whatever other chats do at the same time. */
function createScope(chat: string) {
  const units = new Set<string>();
  const rows = new Set<number>();
  return {
    addUnit(unitId: string, chats: readonly string[]) {
      if (chats.includes(chat)) units.add(unitId);
      return units.has(unitId);
    },
    addRows(unitId: string, ids: readonly number[]) {
      if (units.has(unitId)) for (const id of ids) rows.add(id);
    },
    unit: (unitId: string) => units.has(unitId),
    row: (rowId: number) => rows.has(rowId),
  };
}

/** Broken on purpose. */
function spoil(store: Store, how: Aim["spoil"]): Store {
  if (how === "forget") return { ...store, unsent: async () => [] };
  if (how === "unrecorded") return { ...store, sent: async () => {} };
  return store;
}

/** The store as `CRASH_AIM` of the environment says. */
export function crashingStore(real: Store): Store {
  const { chat, spoil: how, ...aim } = JSON.parse(process.env.CRASH_AIM ?? "{}") as Partial<Aim>;
  const store = spoil(real, how);
  return chat === undefined ? store : crashing(store, { ...aim, chat });
}

function crashing(store: Store, { write, when, nth = 1, chat }: Aim): Store {
  const scope = createScope(chat);
  let seen = 0;
  async function at<Result>(name: Aim["write"], concerned: boolean, run: () => Promise<Result>): Promise<Result> {
    if (concerned && name === write) seen += 1;
    const here = concerned && name === write && seen === nth;
    if (here && when === "before") die();
    const result = await run();
    if (here) die();
    return result;
  }
  return {
    ...store,
    say: (input) => {
      const concerned = scope.addUnit(
        input.unitId,
        input.rows.map(({ address }) => address.chat),
      );
      return at("say", concerned, async () => {
        const rows = await store.say(input);
        scope.addRows(
          input.unitId,
          rows.map(({ id }) => id),
        );
        return rows;
      });
    },
    /** Rows of a unit that an earlier process left. */
    unsent: async (unitId) => {
      const rows = await store.unsent(unitId);
      scope.addUnit(
        unitId,
        rows.map(({ address }) => address.chat),
      );
      scope.addRows(
        unitId,
        rows.map(({ id }) => id),
      );
      return rows;
    },
    setPreview: (unitId, preview) =>
      at("setPreview", scope.addUnit(unitId, [preview.address.chat]), () => store.setPreview(unitId, preview)),
    sending: (rowId) => at("sending", scope.row(rowId), () => store.sending(rowId)),
    notSent: (rowId) => at("notSent", scope.row(rowId), () => store.notSent(rowId)),
    sent: (rowId, receipt, how) => at("sent", scope.row(rowId), () => store.sent(rowId, receipt, how)),
    unsendable: (rowId, how) => at("unsendable", scope.row(rowId), () => store.unsendable(rowId, how)),
    settle: (settlement) => at("settle", scope.unit(settlement.unitId), () => store.settle(settlement)),
    doubted: (rowId, how) => at("doubted", scope.row(rowId), () => store.doubted(rowId, how)),
  };
}
