import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Paths or their beginnings, of files that take 30 s (slow) or 40 s (end-to-end) and more. They
 * start first, so that none runs alone at the end of a test run.
 */
const LONGEST = [
  "services/delivery/test/publishing/fault-matrix.slow.test.ts",
  "packages/shared/test/bus-kafka.slow.test.ts",
  "services/delivery/test/engagement/fault-matrix.slow.test.ts",
  "services/media/test/hostile-media.slow.test.ts",
  "services/delivery/test/publishing/tiktok-never-twice.slow.test.ts",
  "packages/shared/test/kafka-recovery.slow.test.ts",
  "services/delivery/test/webhooks/dispatcher/fairness.slow.test.ts",
  "packages/serve/test/serve.slow.test.ts",
  "services/media/test/object-store.slow.test.ts",
  "services/delivery/test/process.slow.test.ts",
  "scripts/manifests/check-overlay.slow.test.ts",
  "scripts/observability/alerts.slow.test.ts",
  "e2e/crash-postgres.test.ts",
  "e2e/crash-kafka.test.ts",
  "e2e/quiet-system.test.ts",
  "e2e/crash-points.test.ts",
  "e2e/workspace-deletion.test.ts",
  "e2e/restore.test.ts",
  "e2e/dashboard-posts.test.ts",
  "e2e/crash-media-automations.test.ts",
  "e2e/dashboard-screens.test.ts",
  "e2e/traces-and-secrets.test.ts",
  "e2e/comments.test.ts",
  "e2e/one-command.test.ts",
  "e2e/dashboard-compose.test.ts",
  "e2e/docs-page.test.ts",
  "e2e/mixed-versions.test.ts",
  "e2e/copy.test.ts",
  "e2e/workspace-move.test.ts",
  "e2e/dashboard-talk.test.ts",
  "e2e/other-settings.test.ts",
  "e2e/read-after-write.test.ts",
  "e2e/migrations-under-load.test.ts",
  "e2e/connect.test.ts",
  "e2e/pictures.test.ts",
  "e2e/dashboard-",
  "e2e/publish-media.test.ts",
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((file) => moduleId.includes(`/${file}`));
  if (rank !== -1) return rank;
  return moduleId.endsWith(".slow.test.ts") ? LONGEST.length : LONGEST.length + 1;
}

/** Then the other slow tests, then the rest in the order of vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
