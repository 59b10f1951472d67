/** The core's own taps, in path order. */
import { tapNotices } from "../../actions/index.ts";
import { defaultAgentId } from "../../config/index.ts";
import type { Hooks } from "../../stations/index.ts";
import { tapDelivery } from "./delivery-tap.ts";
import { tapFormatting } from "./formatting-taps.ts";
import { tapGating } from "./gating-taps.ts";
import { tapIngress } from "./ingress-taps.ts";
import { keepPlugins } from "./retained-plugins.ts";
import { tapRouting } from "./routing-tap.ts";
import { tapSettled } from "./settled-tap.ts";

import { tapTurn } from "./turn-taps.ts";

type OptionsOf<Tap extends (hooks: Hooks, options: never) => void> = Parameters<Tap>[1];

type CoreTapsOptions = OptionsOf<typeof keepPlugins> &
  OptionsOf<typeof tapIngress> &
  OptionsOf<typeof tapGating> &
  OptionsOf<typeof tapRouting> &
  OptionsOf<typeof tapTurn> &
  OptionsOf<typeof tapFormatting> &
  OptionsOf<typeof tapDelivery> &
  OptionsOf<typeof tapSettled>;

/**
 * A tap that has nothing to wait for returns synchronously: a promise costs a deadline timer, and each message passes
 * all taps.
 */
export function tapCore(hooks: Hooks, options: CoreTapsOptions): void {
  keepPlugins(hooks, options);
  tapNotices(hooks, () => defaultAgentId(options.config()));
  tapIngress(hooks, options);
  tapGating(hooks, options);
  tapRouting(hooks, options);
  tapTurn(hooks, options);
  tapFormatting(hooks, options);
  tapDelivery(hooks, options);
  tapSettled(hooks, options);
}
