/**
 * Holds the channel to the contract: rules for everything that it declares, with the platform of `platform.ts`
 * behind it.
 */
import { channelContract } from "service-gateway/testkit";
import channel from "../src/index.ts";
import { fixtures, functions, options } from "./fixtures.ts";
import { openPlatform } from "./platform.ts";

channelContract({
  channel,
  options,
  fixtures,
  functions,
  platform: {
    can: ["away", "back", "cut", "forge", "groups", "hang", "refuse", "reset", "silent"],
    open: () => openPlatform(),
  },
});
