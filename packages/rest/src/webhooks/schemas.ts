import { Type } from "typebox";
import { enumeration, Id, Instant, nullable } from "#src/schemas.ts";

export const Signing = enumeration(
  "WebhookSigning",
  ["hmac-sha256", "ed25519"],
  "How deliveries are signed; fixed at creation.",
);
export const MaxPerSecond = nullable(
  Type.Integer({ minimum: 1, maximum: 100, description: "null = no maximum." }),
);

/** Properties of a webhook subscription. */
export const WEBHOOK = {
  id: Id,
  url: Type.String({ format: "uri" }),
  description: Type.String(),
  events: Type.Array(Type.String()),
  status: enumeration(
    "WebhookStatus",
    ["active", "paused", "disabled", "revoked"],
    "disabled: the receiver answered 410, or nothing but failures for 5 days.",
  ),
  disabledReason: nullable(enumeration("WebhookDisabledReason", ["gone", "failing"])),
  signing: Signing,
  publicKey: nullable(
    Type.String({ description: "`whpk_…`, verifies the deliveries; null with hmac-sha256." }),
  ),
  maxPerSecond: MaxPerSecond,
  createdAt: Instant,
  updatedAt: Instant,
};

export const Webhook = Type.Object(WEBHOOK, { $id: "Webhook" });
