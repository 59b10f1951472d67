/** The fourth step of `init`, which may be skipped: webhooks, with a line that tries them. */
import { getPath } from "../../config/path.ts";
import { expandPath } from "../../config/secrets.ts";
import { parseBasePath } from "../../webhooks/mapping/address.ts";
import { hookToken } from "../new-secret.ts";
import { hookCall } from "../start/welcome.ts";
import type { Setup } from "./setup.ts";
import { writeWanted } from "./write.ts";

export function wantWebhooks(setup: Setup): void {
  const { hooks } = setup.loaded.checkable;
  const comment = "Programs that write to the agent send this token.";
  if (!hooks.enabled) setup.want({ path: ["hooks", "enabled"], value: true });
  if (hooks.token === undefined) setup.want({ ...setup.secret(["hooks", "token"], hookToken()), comment });
}

export async function offerWebhooks(setup: Setup): Promise<void> {
  const { ask, loaded } = setup;
  if (ask !== undefined && !loaded.checkable.hooks.enabled) {
    setup.title("Webhooks");
    if (!(await ask.confirm("  Let programs write to the agent by HTTP?"))) return;
    wantWebhooks(setup);
    if (!(await writeWanted(setup))) return;
  }
  await showWebhooks(setup);
}

/** Shows how to try them. A token that is not in a file cannot be read by the command that is shown. */
async function showWebhooks(setup: Setup): Promise<void> {
  const { context, loaded, result } = setup;
  const { hooks, gateway } = loaded.config;
  if (!hooks.enabled) return;
  const running = await context.gateway();
  const url = `${running?.url ?? `http://${gateway.host}:${gateway.port}`}${parseBasePath(hooks.path) ?? ""}`;
  const named = getPath(hooks, ["token", "file"]);
  const tokenFile = typeof named === "string" ? expandPath(named, loaded.directory) : undefined;
  result.webhook = { url, ...(tokenFile !== undefined && { tokenFile }) };
  if (tokenFile === undefined) return;
  setup.say("While the gateway runs, this line asks the agent, and its answer arrives in your chat:");
  for (const line of hookCall({ hooks: url, tokenFile }, "agent", { message: "Say hello.", deliver: true }).split("\n"))
    setup.show(context.terminal.style("cyan", line));
}
