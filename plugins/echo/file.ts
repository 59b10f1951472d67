/** Describes a received file in one line, which shows that fetching works. */
import type { InboundMedia } from "service-gateway/sdk";

export function renderFile({ kind, mimeType, size, path, unavailable, description }: InboundMedia): string {
  if (unavailable !== undefined) return `- ${kind}, not here: ${unavailable}`;
  if (path === undefined) return `- ${kind}`;
  return [`- ${kind}`, mimeType, size !== undefined && `${size} bytes`, description].filter(Boolean).join(", ");
}
