/** The engine keeps the contract that strangers are held to. */
import { engineContract } from "service-gateway/testkit";
import echo from "../../../plugins/echo/index.ts";

engineContract({ engine: echo, options: { delayMs: 0 } });
