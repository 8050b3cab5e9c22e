import type { ConnectRouter } from "@connectrpc/connect";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { SecretTransferService } from "@postrider/contracts/operations/v1/secret_transfer_service_pb";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import { createRowImportService } from "@postrider/shared/workspaces/import-service";
import { hasOpenedSecrets } from "@postrider/shared/workspaces/import-state";
import {
  createSecretTransferService,
  type SecretTransferOptions,
} from "@postrider/shared/workspaces/secret-transfer";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { confirmExternalAccounts } from "#src/db/external-accounts.ts";
import { isFrozen } from "#src/db/stopped-workspaces.ts";
import { lockAccount, pollNow } from "#src/engagement/db/automation-accounts.ts";
import {
  listActiveRules,
  type MovedRule,
  resumeRule,
} from "#src/engagement/db/automation-rules.ts";
import { releaseImportedEngagement } from "#src/engagement/db/workspace-import.ts";
import { IMPORT_RULES } from "#src/operations/import-rules.ts";
import {
  createHandleSealing,
  readMovedHandles,
  writeMovedHandles,
} from "#src/publishing/db/handles.ts";
import { releaseImportedTasks, stopImport } from "#src/publishing/db/workspace-import.ts";
import { raiseSequences } from "#src/webhooks/db/compositions.ts";
import {
  type MovedWebhooks,
  readMovedWebhooks,
  releaseImportedWebhooks,
  writeMovedWebhooks,
} from "#src/webhooks/operations/workspace-webhooks.ts";

interface CopyDeps {
  readonly sql: Sql;
  readonly sealingKeys: readonly SealingKey[];
}

/** Each part of the service makes what its imported rows need. */
function createImports({ sql, sealingKeys }: CopyDeps) {
  return createRowImportService({
    sql,
    tables: EXPORTED_TABLES,
    rules: IMPORT_RULES,
    prepare: async (tx, workspaceId) => {
      await stopImport(tx, workspaceId);
      await raiseSequences(tx);
    },
    release: async (workspaceId, isCopy) => {
      // The old installation may have been restored since the import began.
      await raiseSequences(sql);
      if (await hasOpenedSecrets(sql, workspaceId)) await confirmExternalAccounts(sql, workspaceId);
      await releaseImportedTasks(sql, workspaceId, isCopy);
      await releaseImportedEngagement(sql, workspaceId, isCopy);
      await releaseImportedWebhooks(sql, { sealingKeys }, workspaceId);
    },
  });
}

/**
 * Lets imported rules go on that were active in the cell that they come from. Their accounts are
 * polled anew; comments that were handled there have runs, which were imported.
 */
async function resumeMovedRules(
  tx: TransactionSql,
  workspaceId: string,
  rules: readonly MovedRule[],
): Promise<void> {
  for (const rule of rules) {
    const account = await resumeRule(tx, workspaceId, rule);
    if (account === undefined) continue;
    await lockAccount(tx, { ...account, workspaceId });
    await pollNow(tx, account.accountId);
  }
}

/**
 * What goes to another cell with a workspace, so that its webhooks and automations go on there and
 * posts whose outcome is not known are recognised by the ids that the platforms returned for them.
 */
function createSecrets({ sql, sealingKeys }: CopyDeps): SecretTransferOptions {
  const sealing = createHandleSealing(sealingKeys);
  type Content = {
    readonly handles: Awaited<ReturnType<typeof readMovedHandles>>;
    readonly webhooks: MovedWebhooks;
    readonly rules: Awaited<ReturnType<typeof listActiveRules>>;
  };
  return {
    sql,
    keys: sealingKeys,
    isFrozen,
    read: async (workspaceId) => {
      const webhooks = await readMovedWebhooks(sql, { sealingKeys }, workspaceId);
      const handles = await readMovedHandles(sql, sealing, workspaceId);
      const rules = await listActiveRules(sql, workspaceId);
      const content: Content = { handles, webhooks, rules };
      return { content, next: undefined };
    },
    write: async (tx, workspaceId, content) => {
      const { handles: moved, webhooks, rules } = content as Content;
      await writeMovedHandles(tx, sealing, { workspaceId, moved });
      await writeMovedWebhooks(tx, { sealingKeys }, workspaceId, webhooks);
      await resumeMovedRules(tx, workspaceId, rules);
    },
  };
}

/** The RPCs with which a workspace arrives, to which all parts of the service contribute. */
export function addWorkspaceCopies(router: ConnectRouter, deps: CopyDeps): void {
  router.service(RowImportService, createImports(deps));
  router.service(SecretTransferService, createSecretTransferService(createSecrets(deps)));
}
