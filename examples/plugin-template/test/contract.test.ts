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
    can: [
      "away",
      "back",
      "cut",
      "delete",
      "edit",
      "hang",
      "limit",
      "refuse",
      "repeat",
      "reset",
      "silent",
      "unconfirmed",
    ],
    open: () => openPlatform(),
  },
});
