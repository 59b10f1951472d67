/** Which files of a reply may leave the machine, and how large they may be. */
import { agentSettings, expandPath, type GatewayConfig } from "../../config/index.ts";
import type { Address } from "../../contract/index.ts";
import { createGuardedFetch, createOutbound, mostBytesOut } from "../../media/index.ts";

export function createOutboundFiles({
  config,
  configDirectory,
  configFile,
  stateDirectory,
  optionsOf,
}: {
  readonly config: () => GatewayConfig;
  readonly configDirectory: string;
  /** Never sent. */
  readonly configFile: string;
  readonly stateDirectory: string;
  /** Options of the sending account. */
  readonly optionsOf: (to: Address) => Readonly<Record<string, unknown>> | undefined;
}): ReturnType<typeof createOutbound> {
  return createOutbound({
    fetch: createGuardedFetch(),
    stateDirectory,
    roots(agentId) {
      const { workspace } = agentSettings(config(), agentId);
      const secret = [configFile];
      return workspace === undefined ? { secret } : { secret, workspace: expandPath(workspace, configDirectory) };
    },
    maxBytes: (to) => mostBytesOut(optionsOf(to)?.mediaMaxMb),
  });
}
