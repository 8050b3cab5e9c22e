import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ResealWebhookSecretsRequest,
  ResealWebhookSecretsResponseSchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId, NIL_ID } from "@postrider/shared/ids";
import { SealError } from "@postrider/shared/secrets/sealing";
import {
  countStaleSecrets,
  lockStaleSecrets,
  replaceSealed,
  resealSecret,
  type SealedSecret,
} from "#src/webhooks/db/secrets.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";

/** Number of signing secrets that are encrypted again in one transaction. */
const PAGE_SIZE = 200;

/** A secret that cannot be decrypted is logged and stays as it is. */
export async function resealWebhookSecrets(
  { sql, logger, sealingKeys }: Pick<WebhookRpcDeps, "sql" | "logger" | "sealingKeys">,
  { after }: ResealWebhookSecretsRequest,
): Promise<MessageInitShape<typeof ResealWebhookSecretsResponseSchema>> {
  if (after !== "" && !isId(after)) throw invalidRequest([{ code: "invalid", path: "/after" }]);
  const newestKeyId = sealingKeys[0]?.id ?? "";
  const reseal = (secret: SealedSecret): readonly SealedSecret[] => {
    try {
      return [resealSecret(sealingKeys, secret)];
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      logger.error(
        { err: error, subscriptionId: secret.subscriptionId },
        "the signing secret of a webhook subscription cannot be decrypted; add its key to HANDLE_KEYS, or rotate the secret if no key is missing",
      );
      return [];
    }
  };
  const page = await sql.begin(async (tx) => {
    const stale = await lockStaleSecrets(tx, newestKeyId, {
      after: after === "" ? NIL_ID : after,
      limit: PAGE_SIZE,
    });
    const resealed = stale.flatMap(reseal);
    if (resealed.length > 0) await replaceSealed(tx, resealed);
    return { last: stale.at(-1)?.id ?? "", stale: stale.length, resealed: resealed.length };
  });
  return {
    after: page.last,
    remaining: BigInt(await countStaleSecrets(sql, newestKeyId)),
    resealed: page.resealed,
    unreadable: page.stale - page.resealed,
  };
}
