/** The types of tool sources, by their place in the contract. */
import type { PluginHost } from "service-gateway/sdk";

export type ToolSource = Parameters<PluginHost["toolSource"]>[0];

export type ToolTurn = Parameters<ToolSource["offer"]>[0];
export type ToolOffer = Awaited<ReturnType<ToolSource["offer"]>>;
export type SourcedTool = ToolOffer["tools"][number];
