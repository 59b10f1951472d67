import { encode } from "uqr";
import { html } from "./parts.js";

/** Each dark module is a square of the path. The ground stays light in both colour schemes, so that readers see it. */
function QrCode({ text }) {
  const { data, size } = encode(text, { ecc: "L", border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label="QR code"
    shape-rendering="crispEdges"><path d=${path} /></svg>`;
}

/** What a person has to do so that the account can sign in. */
export function SignIn({ text, url, code, qr }) {
  return html`<div class="notice warn sign-in">
    <p>${text}</p>
    ${url !== undefined && html`<p><a href=${url} target="_blank" rel="noopener noreferrer">${url}</a></p>`}
    ${code !== undefined && html`<p>Code: <strong class="mono">${code}</strong></p>`}
    ${qr !== undefined && html`<${QrCode} text=${qr} />`}
  </div>`;
}
