/** Which files of a reply may leave the machine, and how large they may be. */
import { agentSettings, expandPath, type GatewayConfig } from "../../config/index.ts";
import type { Address } from "../../contract/index.ts";
import {
  createGeneratedFiles,
  createGuardedFetch,
  createOutbound,
  type KeepGenerated,
  mostBytesOut,
  type Outbound,
} from "../../media/index.ts";

export interface OutboundFiles {
  readonly complete: Outbound;
  readonly keep: KeepGenerated;
}

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
}): OutboundFiles {
  const maxBytes = (to: Address) => mostBytesOut(optionsOf(to)?.mediaMaxMb);
  const complete = createOutbound({
    fetch: createGuardedFetch(),
    stateDirectory,
    roots(agentId) {
      const { workspace } = agentSettings(config(), agentId);
      const secret = [configFile];
      return workspace === undefined ? { secret } : { secret, workspace: expandPath(workspace, configDirectory) };
    },
    maxBytes,
  });
  return { complete, keep: createGeneratedFiles({ stateDirectory, maxBytes }) };
}
