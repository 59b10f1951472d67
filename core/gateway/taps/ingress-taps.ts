/** Turns events into the input of a turn: heartbeats, webhooks, updates of channels. */
import { parseHeartbeat } from "../../agents/index.ts";
import { type Accounts, type Deletions, type Edits, isDeletion, type Migrations } from "../../channels/index.ts";
import type { GatewayConfig } from "../../config/index.ts";
import type { Inbound, Silent } from "../../contract/index.ts";
import { whenKnown } from "../../host/index.ts";
import type { Log } from "../../log/index.ts";
import { waitFor } from "../../path/index.ts";
import { type Hooks, notes } from "../../stations/index.ts";
import { absentOf, parseHookEvent } from "../../webhooks/index.ts";

export function tapIngress(
  hooks: Hooks,
  options: {
    readonly config: () => GatewayConfig;
    readonly configDirectory: string;
    readonly log: Log;
    readonly accounts: Pick<Accounts, "awayFor" | "parse">;
    readonly migrations: Pick<Migrations, "follow">;
    readonly deletions: Pick<Deletions, "apply">;
    readonly edits: Pick<Edits, "look">;
    /** Adds what the platform left out of a message's place. */
    readonly placed: (inbound: Inbound) => Inbound | Promise<Inbound>;
  },
): void {
  const { config, accounts, migrations, edits, configDirectory: directory, log } = options;
  hooks.tap("core", "ingress", (_event, gathered, visit) => {
    const absent = gathered.flatMap(absentOf);
    if (absent.length > 0) visit.set(notes, absent);
    return parseHeartbeat(gathered, { config: config(), directory, log, visit });
  });
  hooks.tap("core", "ingress", (event) => (event.source === "hooks" ? parseHookEvent(event) : undefined));
  hooks.tap("core", "ingress", (event, gathered) => {
    const { source, account, dedupeKey } = event;
    // An event of a plugin, such as a person's reminder, has no account: the tap of the plugin reads it.
    if (event.authority !== "channel" || account === undefined) return undefined;
    // The event itself is not kept in memory while it waits.
    const by = { source, account, dedupeKey };
    waitFor(() => accounts.awayFor(by));
    if (isDeletion(event)) return options.deletions.apply(event);
    return whenKnown(accounts.parse(event, gathered), (parsed) => {
      if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
      // One that names its message never comes as far as this.
      if (parsed.kind === "delete") return { silent: "message_unknown", detail: "The deletion names no message." };
      const follow = (): Inbound | Silent | Promise<Inbound | Silent> =>
        whenKnown(options.placed(parsed), (found): Inbound | Silent | Promise<Inbound | Silent> =>
          migrations.follow(found),
        );
      return parsed.kind === "edit" ? edits.look(parsed, event).then((silent) => silent ?? follow()) : follow();
    });
  });
}
