/** The channel keeps the contract that strangers are held to, on the emulated platform. */
import { concurrentChannelContract } from "../../../core/testkit/channel-contract.ts";
import botchat from "../../../plugins/botchat/index.ts";
import { contract } from "./contract-options.ts";

concurrentChannelContract({ channel: botchat, ...contract });
