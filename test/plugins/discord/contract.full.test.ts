/** The channel keeps the contract, on the stand-in. */
import { channelContract } from "service-gateway/testkit";
import discord from "../../../plugins/discord/index.ts";
import { contract } from "./contract-options.ts";

channelContract({ channel: discord, ...contract });
