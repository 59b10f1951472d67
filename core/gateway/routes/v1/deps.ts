import type { createApprovals, Spending, TestModel } from "../../../agents/index.ts";
import type { AccountReport } from "../../../channels/index.ts";
import type { GatewayConfig, Secrets } from "../../../config/index.ts";
import type { Registry } from "../../../host/index.ts";
import type { Links, Sessions } from "../../../http/index.ts";
import type { Log } from "../../../log/index.ts";
import type { Store } from "../../../state/index.ts";
import type { Base } from "../../base.ts";
import type { ConfigEditing } from "../../console/config-editing.ts";
import type { HookWorkbench } from "../../console/hook-workbench.ts";
import type { HttpSide } from "../../http-side.ts";
import type { Describing, GatewayDescription, Readiness } from "../../report.ts";
import type { Control } from "../control.ts";
import type { PairingRouteDeps } from "../pairing.ts";

/** What the routes under `/gateway/v1/` work with. */
export interface V1Deps extends PairingRouteDeps {
  readonly store: Store;
  readonly config: () => GatewayConfig;
  readonly stateDirectory: string;
  readonly describe: () => Promise<GatewayDescription>;
  readonly readiness: () => Readiness;
  /** What plugins watch, by plugin id. */
  readonly watched: Describing["watched"];
  readonly accounts: () => readonly AccountReport[];
  readonly approvals: Pick<ReturnType<typeof createApprovals>, "waiting" | "decide">;
  readonly sessions: Sessions;
  readonly links: Links;
  readonly control: Control;
  readonly secrets: Secrets;
  readonly spending: Pick<Spending, "add">;
  readonly testModel: TestModel;
  /** Loaded when it is first needed, like the workbench. */
  readonly editing: () => Promise<ConfigEditing>;
  readonly workbench: () => Promise<HookWorkbench>;
  /** Sends a stored delivery through the mappings as they are now. */
  readonly replay: HttpSide["replay"];
  /** What the file sets, unchecked. */
  readonly written: () => unknown;
  /** What the plugins show in the console. */
  readonly panels: () => Registry["panels"];
  /** Hands each line of the log to one listener. */
  readonly followLog: Base["followLog"];
  readonly newId: () => string;
  readonly log: Log;
  /** Removes secrets by value. */
  readonly clean: <T>(value: T) => T;
}
