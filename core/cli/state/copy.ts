/** `state copy`: copies the whole state to another store. */
import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { embeddedStore } from "../../config/embedded-store.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { lockState } from "../../state/lock.ts";
import type { Store } from "../../state/store.ts";
import { type CopyCounts, copyState, countState } from "../../stores/copy.ts";
import { isEmbedded, type StatePlace } from "../../stores/place.ts";
import type { CommandContext } from "../context.ts";
import { progressLines } from "./progress.ts";

interface Options {
  readonly to: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface Target {
  readonly place: StatePlace;
  /** Without user, password and options. */
  readonly shown: string;
}

export async function copyStateTo(
  context: CommandContext,
  _: readonly [],
  { to, dryRun = false, json = false }: Options,
): Promise<number> {
  const { terminal } = context;
  const source = await context.place();
  const target = targetOf(to, source, context.home);
  if (!(await context.hasState())) throw new HostError("state_missing", { directory: source.directory });
  if (dryRun) {
    const store = await context.openState();
    try {
      const counts = await countState(store, target.shown);
      if (json) terminal.json({ target: target.shown, copied: false, counts });
      else terminal.line(`Would copy to ${target.shown}: ${countsLine(counts)}.`);
    } finally {
      await store.close();
    }
    return 0;
  }
  const { counts, resumed } = await copyLocked(context, source, target);
  const settings = settingsOf(target);
  if (json) {
    terminal.json({ target: target.shown, copied: true, resumed, counts, settings });
    return 0;
  }
  terminal.line(`Copied to ${target.shown} and compared: ${countsLine(counts)}.`);
  terminal.line(
    `The configuration is not changed. To use the copy:\n${settings.map((line) => `  ${line}`).join("\n")}`,
  );
  return 0;
}

/** The scheme of an address is the id of its store. */
function targetOf(to: string, source: StatePlace, home: string): Target {
  const invalid = (reason: string) => new HostError("usage", { reason: `--to: ${reason}` });
  // An unset variable of the shell; it would be the working directory.
  if (to.trim() === "")
    throw invalid("is empty; name a directory, or an address such as postgres://USER@HOST/DATABASE");
  const [, scheme, slashes] = /^([a-z][a-z0-9-]+):(\/\/)?/.exec(to) ?? [];
  if (scheme === embeddedStore) throw invalid(`SQLite is named by its directory alone, without ${scheme}:`);
  if (scheme !== undefined && slashes === undefined)
    throw invalid(
      `"${scheme}:" begins no address; write ${scheme}://USER@HOST/DATABASE, or ./${scheme}:... for a directory`,
    );
  if (scheme === undefined) {
    const directory = to.startsWith("~/") ? join(home, to.slice(2)) : resolve(to);
    return { place: { directory, store: embeddedStore }, shown: directory };
  }
  const parsed = URL.parse(to);
  if (parsed === null) throw invalid("this is not a valid address");
  const { directory, node } = source;
  const place = { directory, store: scheme, url: to, node };
  return { place, shown: `${parsed.protocol}//${parsed.host}${parsed.pathname}` };
}

function settingsOf({ place, shown }: Target): readonly string[] {
  const set = (path: string, value: string) => `${programCommand} config set ${path} ${value}`;
  if (isEmbedded(place)) return [set("state.store", place.store), set("state.dir", place.directory)];
  return [set("state.store", place.store), `${set("state.url", "ADDRESS")}   (the address of ${shown})`];
}

/** Copies while this process holds the locks, so that no gateway can start on either state directory. */
async function copyLocked(context: CommandContext, source: StatePlace, { place, shown }: Target) {
  const directories = new Set([source.directory, place.directory]);
  const locks: ReturnType<typeof lockState>[] = [];
  const stores: Store[] = [];
  try {
    for (const directory of directories) locks.push(lockState(directory));
    const from = await context.openStateAt(source, { owner: true });
    stores.push(from);
    await requireUnused(from, shown);
    // As at the start of a gateway, what ran when the last one ended waits again.
    await from.begin(context.now());
    const to = await context.openStateAt(place, { owner: false }).catch((error: unknown) => {
      throw aboutTarget(error, shown);
    });
    stores.push(to);
    await requireUnused(to, shown);
    const beforeFinish = () => requireUnused(from, shown);
    return await copyState({
      source: from,
      target: to,
      shown,
      newId: randomUUID,
      beforeFinish,
      onProgress: progressLines(context, process.stderr.isTTY),
    });
  } finally {
    for (const store of stores.toReversed()) await store.close();
    for (const lock of locks) lock.release();
  }
}

/** Errors of a store name the settings of a gateway; the address of the target is that of `--to`. */
function aboutTarget(error: unknown, target: string): unknown {
  if (!(error instanceof HostError)) return error;
  const refused = (reason: string, fix: string) =>
    new HostError("state_copy_refused", { target, reason, fix }, { cause: error });
  const { code, details, hint, cause } = error;
  if (code === "store_unknown") return refused(`there is no store ${details.store}`, hint);
  if (code !== "store_not_opened") return error;
  const isSpecific = cause instanceof HostError && cause.code !== "database_away";
  const fix = isSpecific
    ? String(details.fix)
    : "Check that the database runs, and that it accepts the address, the user and the password of --to.";
  return refused(String(details.reason).replaceAll("state.url", "--to"), fix.replaceAll("state.url", "--to"));
}

/** Refuses while other nodes use a store. */
async function requireUnused({ nodes }: Store, target: string): Promise<void> {
  if (nodes === undefined) return;
  const others = (await nodes.reports())
    .filter(({ alive, name }) => alive && name !== nodes.name)
    .map(({ name }) => name);
  if (others.length === 0) return;
  const reason =
    `${others.length === 1 ? "the node" : "the nodes"} ${others.join(", ")} ` +
    `${others.length === 1 ? "uses" : "use"} the store`;
  const fix = "Stop these gateways. The lease of one that was killed ends by itself after half a minute.";
  throw new HostError("state_copy_refused", { target, reason, fix });
}

function countsLine(counts: CopyCounts): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0 ? "no rows" : some.map(([kind, count]) => `${kind} ${count}`).join(", ");
}
