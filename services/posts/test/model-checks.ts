import assert from "node:assert/strict";
import { contentHash } from "#src/domain/plan-post.ts";
import type { Asked, World } from "./model-world.ts";
import type { ModelPost, ModelTarget } from "./model.ts";
import { findQuotaDrift, findSharedDrift } from "./quota-drift.ts";

interface StoredTarget extends Omit<ModelTarget, "applied" | "guard"> {
  readonly taskGeneration: number;
  readonly taskVersion: number;
  readonly guard: string | null;
}

interface StoredPost {
  readonly id: string;
  readonly status: ModelPost["status"];
  readonly content: string;
  readonly version: number;
  readonly targets: readonly StoredTarget[];
}

/** Against the reference model, after each random step. */
export class Checks {
  readonly #world: World;
  readonly #versions = new Map<string, { version: number; shown: string }>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Returns the requests that the fake delivery service has received. */
  async assertAsExpected(expected: Asked): Promise<Asked> {
    const { model, posts, workspaceId } = this.#world;
    const asked = await this.#readEvents();
    assert.deepEqual(asked.publish.toSorted(), expected.publish.toSorted());
    assert.deepEqual(asked.remove.toSorted(), expected.remove.toSorted());
    const stored = await this.#readPosts();
    const wanted = [...model.posts.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    assert.deepEqual(stored.map(toComparable), wanted.map(toExpected));
    for (const post of stored) this.#assertVersion(post);
    if (this.#world.isLikely(0.25)) {
      assert.deepEqual(await findQuotaDrift(posts.sql, workspaceId), []);
      assert.deepEqual([...(await findSharedDrift(posts.sql))], []);
    }
    return asked;
  }

  /**
   * Checks that the version of a post never falls, and rises with every change that the API shows.
   */
  #assertVersion({ id, version, status, targets }: StoredPost): void {
    const shown = JSON.stringify([
      status,
      targets.map((it) => [
        it.status === "pending" ? "publishing" : it.status,
        it.externalId,
        it.error,
      ]),
    ]);
    const last = this.#versions.get(id);
    if (last !== undefined) {
      assert.ok(version >= last.version);
      if (last.shown !== shown) assert.ok(version > last.version);
    }
    this.#versions.set(id, { version, shown });
  }

  async #readEvents(): Promise<Asked> {
    // As the relay does.
    const rows = await this.#world.posts.sql<{ type: string; payload: string }[]>`
      delete from outbox returning type, payload`;
    const listOf = (type: string, number: "generation" | "deletion") =>
      rows
        .filter((row) => row.type === `postrider.posts.v1.${type}`)
        .flatMap(({ payload }) => {
          const { targets } = JSON.parse(payload) as {
            targets: { targetId: string; generation?: number; deletion?: number }[];
          };
          return targets.map((target) => `${target.targetId} ${target[number]}`);
        });
    return {
      publish: listOf("PostPublishRequested", "generation"),
      remove: listOf("PostDeletionRequested", "deletion"),
    };
  }

  async #readPosts(): Promise<StoredPost[]> {
    return await this.#world.posts.sql<StoredPost[]>`
      select post.id, post.status, post.content, post.version, (
        select json_agg(json_build_object(
          'id', target.id, 'accountId', target.account_id, 'status', target.status,
          'generation', target.generation, 'taskGeneration', target.task_generation,
          'taskVersion', target.task_version, 'externalId', target.external_id, 'error', target.error_code,
          'deletion', target.deletion, 'deletionVersion', target.deletion_version, 'dueDay', target.due_day,
          'guard', (select encode(content_hash, 'hex') from duplicate_guards where target_id = target.id
            and (expires_at is null or expires_at > now()))
        ) order by target.ordinal)
        from targets as target where target.post_id = post.id
      ) as targets
      from posts as post
      where workspace_id = ${this.#world.workspaceId}
      order by post.id`;
  }
}

function toComparable({ id, status, content, targets }: StoredPost) {
  const plain = targets.map(({ taskGeneration, taskVersion, ...target }) => ({
    ...target,
    applied: [taskGeneration, taskVersion],
  }));
  return { id, status, content, targets: plain };
}

function toExpected({ targets, ...post }: ModelPost) {
  const hashed = targets.map(({ guard, plannedIn: _planned, isChecked: _checked, ...target }) => ({
    ...target,
    guard: guard === null ? null : contentHash(guard, []),
  }));
  return { ...post, targets: hashed };
}
