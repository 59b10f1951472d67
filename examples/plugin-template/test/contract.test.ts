/** Holds the channel to the contract: some forty rules, with the platform of `platform.ts` behind it. */
import { channelContract } from "service-gateway/testkit";
import channel from "../src/index.ts";
import { fixtures, options } from "./fixtures.ts";
import { openPlatform } from "./platform.ts";

channelContract({
  channel,
  options,
  fixtures,
  platform: { can: ["away", "cut", "hang", "limit", "refuse", "repeat", "unconfirmed"], open: () => openPlatform() },
});
