/**
 * A channel's definition as the core calls it: one in a worker answers with promises where the contract asks for a
 * value at once.
 */
import type { CalledIdentity } from "../access/index.ts";
import type {
  AccountSurroundings,
  ChannelAccount,
  ChannelCapabilities,
  ChannelDefinition,
  OptionProblem,
  SharedChannelRoute,
} from "../sdk/contract.ts";
import type { CalledConnection } from "./remote-connection.ts";

/** Every `ChannelDefinition` is one. */
export interface CalledChannel
  extends Omit<ChannelDefinition, "capabilities" | "check" | "identity" | "open" | "route" | "signsInAs"> {
  readonly capabilities: ChannelCapabilities | ((options: never) => ChannelCapabilities | Promise<ChannelCapabilities>);
  readonly identity?: CalledIdentity;
  readonly route?: Omit<SharedChannelRoute, "accountOf"> & {
    accountOf(
      ...args: Parameters<SharedChannelRoute<never>["accountOf"]>
    ): string | undefined | Promise<string | undefined>;
  };
  signsInAs?(options: never): string | undefined | Promise<string | undefined>;
  check?(
    options: never,
    around: AccountSurroundings<never>,
  ): readonly OptionProblem[] | Promise<readonly OptionProblem[]>;
  open(account: ChannelAccount<never>): CalledConnection;
}
