/** Steps that every mailbox needs: the hook server is on, and a mapping answers deliveries of its mail. */
import type { CliCall } from "service-gateway/sdk";
import { SourceError } from "../source.ts";
import { done, retained, type Steps } from "./steps.ts";

type Preset = ReturnType<CliCall["preset"]>;

export async function prepareHooks(steps: Steps, preset: Preset, source: string): Promise<void> {
  const { enabled, hasToken, path, answeredBy, problem } = await preset.hooks();
  await steps.step("mapping", "Checking the mappings", async () => {
    if (answeredBy === undefined)
      throw new SourceError(
        "setup",
        `No mapping handles ${path}, because the plugin mail is disabled.`,
        "Remove plugins.entries.mail.enabled from the configuration, or set it to true.",
      );
    if (problem !== undefined)
      throw new SourceError("setup", `Deliveries at ${path} are refused: ${problem.reason}`, problem.fix);
    const by = answeredBy === "preset" ? `the preset ${source}` : "your own mapping";
    return enabled
      ? retained(`Requests to ${path} are answered by ${by}.`)
      : done(`Requests to ${path} are answered by ${by}.`);
  });
  if (steps.dryRun) {
    await steps.step("hooks.token", "Looking for the hook token", async () =>
      hasToken
        ? retained("It is set.")
        : { outcome: "would", detail: "create a token in a file beside the configuration", value: undefined },
    );
    await steps.step("hooks.enabled", "Checking the hook server", async () =>
      enabled
        ? retained("The hook server is on.")
        : { outcome: "would", detail: "switch the hook server on", value: undefined },
    );
    return;
  }
  const { tokenFile } = await steps.step("hooks.token", "Setting the hook token", async () => {
    const made = await preset.enableHooks();
    return made.tokenFile === undefined
      ? { ...retained("It is set."), value: made }
      : { ...done(`A new token is in ${made.tokenFile}.`), value: made };
  });
  await steps.step("hooks.enabled", "Switching the hook server on", async () =>
    enabled && tokenFile === undefined ? retained("The hook server is on.") : done("The hook server is on."),
  );
}
