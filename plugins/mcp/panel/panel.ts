/** The servers in the console: the acts of the commands as buttons. A gateway loads this file at every start. */
import type { PluginHost } from "service-gateway/sdk";
import type { Serving } from "../serving.ts";

type Panel = Parameters<PluginHost["panel"]>[0];

const gone = { ok: false, text: "The server is not configured any more." };

export function mcpPanel(serving: () => Serving | undefined): Panel {
  const nameOf = (path: string) =>
    serving()
      ?.views()
      .find((view) => view.path === path)?.name;
  return {
    id: "servers",
    title: "MCP servers",
    empty: "No agent has an MCP server. They are set in agents.defaults.mcpServers.",
    mayWait: true,
    async entries() {
      const now = serving();
      return now === undefined ? [] : (await import("./entries.ts")).entriesOf(now.views());
    },
    acts: {
      accept: {
        label: "Accept the tools",
        role: "admin",
        async run({ id, version }) {
          const results = await serving()?.accept(nameOf(id) ?? "", version);
          if (results === undefined) return gone;
          const accepted = results.flatMap((one) => one.accepted ?? []);
          return accepted.length === 0
            ? { ok: false, text: "Nothing was accepted: the tools are no longer those that were shown." }
            : { ok: true, text: `Accepted: ${(await import("./entries.ts")).namesOf(accepted)}.` };
        },
      },
      restart: {
        label: "Restart",
        role: "operate",
        async run({ id }) {
          const results = await serving()?.restart(nameOf(id) ?? "");
          const [view] = results ?? [];
          if (view === undefined) return gone;
          const { name, state, tools, reason, fix } = view;
          return state === "ready"
            ? { ok: true, text: `${name} is ready, with ${tools.length} tools.` }
            : { ok: false, text: `${name} is ${state}: ${[reason, fix].filter((one) => one !== "").join(" ")}` };
        },
      },
    },
  };
}
