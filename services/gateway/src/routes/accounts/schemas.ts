import { Account } from "@postrider/rest/accounts/schemas";
import { ref } from "@postrider/rest/schemas";
import { Type } from "typebox";

export const AccountList = Type.Object(
  { accounts: Type.Array(ref(Account)) },
  { $id: "AccountList" },
);

/**
 * Headers of the answer to disconnecting an account. They say whether the platform was asked to revoke Postrider's
 * permission.
 */
export const REVOCATION_HEADERS = {
  "X-Provider-Revocation": {
    type: "string",
    enum: ["not_attempted", "unconfirmed"],
    description: "Whether the platform was asked to revoke the permission.",
  },
  "X-Provider-Revocation-Reason": {
    type: "string",
    enum: ["app_wide_grant", "not_verified", "not_configured", "already_disconnected"],
    description: "Why the platform was not asked; only with not_attempted.",
  },
};
