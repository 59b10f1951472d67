/** The channel keeps the contract that strangers are held to, on the emulated platform. */
import { channelContract } from "service-gateway/testkit";
import botchat from "../../../plugins/botchat/index.ts";
import { contract } from "./contract-options.ts";

channelContract({ channel: botchat, ...contract, concurrent: true });
