import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { ServiceError } from "@postrider/shared/errors";
import { contentHash } from "#src/domain/content-hash.ts";
import type { PostStatus } from "#src/domain/post-status.ts";
import { dayOf } from "#src/domain/quota.ts";
import { failMissedBatch } from "#src/jobs/start-due-posts.ts";
import { findQuotaDrift } from "#src/quota-drift.ts";
import { newWorkspace, type Posts } from "./fixture.ts";
import { ModelDelivery } from "./model-delivery.ts";
import { Model, type DeletionNews, type ModelPost, type ModelTarget, type News } from "./model.ts";

const CONTENTS = ["one", "two", "three", "four"];
const MONTHLY_QUOTA = 40;
const HOUR_MS = 3_600_000;
const PUBLISHED_AT = timestampFromDate(new Date());

interface Asked {
  /** `target generation` of what was asked to be published, `target deletion` of what to be deleted. */
  readonly publish: string[];
  readonly remove: string[];
}

interface StoredTarget extends Omit<ModelTarget, "news" | "guard"> {
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

/** One workspace, what the service makes of random commands in it, and what the model does. */
export class ModelStory {
  readonly #posts: Posts;
  readonly #random: () => number;
  readonly #model = new Model();
  readonly #delivery = new ModelDelivery();
  readonly #workspaceId = newWorkspace();
  readonly #accounts: readonly string[];
  readonly #keys = new Map<string, string>();
  readonly #versions = new Map<string, { version: number; shown: string }>();
  readonly #inbox: string[] = [];
  #wire: News[] = [];
  #deletionWire: DeletionNews[] = [];
  #lastEvent = 0;
  #keyCount = 0;

  constructor(posts: Posts, random: () => number) {
    this.#posts = posts;
    this.#random = random;
    const { limits } = posts.neighbours;
    limits.set(this.#workspaceId, { monthlyQuota: MONTHLY_QUOTA, dailyQuota: 10_000 });
    this.#accounts = ["x", "telegram", "bluesky", "x"].map((platform) =>
      posts.neighbours.connectAccount(this.#workspaceId, platform),
    );
  }

  /** One random command, and the comparison after it. Returns what it did. */
  async step(): Promise<string> {
    const [name, run] = this.#pick<[string, () => Promise<Asked>]>([
      ["create", () => this.#create()],
      ["create", () => this.#create()],
      ["repeat", () => this.#repeat()],
      ["update", () => this.#update()],
      ["publish", () => this.#publish()],
      ["retry", () => this.#retry()],
      ["delete", () => this.#delete()],
      ["due", () => this.#due()],
      ["take request", () => this.#takeRequest()],
      ["take request", () => this.#takeRequest()],
      ["advance", () => this.#advance()],
      ["advance", () => this.#advance()],
      ["advance", () => this.#advance()],
      ["news", () => this.#tellNews()],
      ["news", () => this.#tellNews()],
      ["news", () => this.#tellNews()],
      ["deletion news", () => this.#tellDeletions()],
      ["sweep", () => this.#sweep()],
      ["day", () => this.#endGuards()],
    ]);
    const asked = await run();
    await this.#compare(name, asked);
    return name;
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  #isLikely(share: number): boolean {
    return this.#random() < share;
  }

  /** Mostly one with a status for which the command is meant. */
  #pickPost(meant: readonly PostStatus[] = []): ModelPost | undefined {
    const all = [...this.#model.posts.values()];
    const fitting = all.filter(({ status }) => meant.includes(status));
    const posts = fitting.length > 0 && this.#isLikely(0.8) ? fitting : all;
    return posts.length === 0 ? undefined : this.#pick(posts);
  }

  async #reasonOf(run: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await run();
      return undefined;
    } catch (error) {
      return error instanceof ServiceError ? error.reason : String(error);
    }
  }

  #soon(): Date {
    return new Date(Date.now() + this.#pick([48, 72, 24 * 40]) * HOUR_MS);
  }

  #requests(targets: readonly ModelTarget[]): Asked {
    return { publish: targets.map(({ id, generation }) => `${id} ${generation}`), remove: [] };
  }

  async #create(): Promise<Asked> {
    const accountIds = this.#accounts.filter(() => this.#isLikely(0.4));
    if (accountIds.length === 0) accountIds.push(this.#pick(this.#accounts));
    const content = this.#pick(CONTENTS);
    const status = this.#pick(["publishing", "scheduled", "draft"] as const);
    const at = status === "scheduled" ? this.#soon() : new Date();
    const isForced = this.#isLikely(0.2);
    const key = this.#isLikely(0.4) ? `key ${(this.#keyCount += 1)}` : undefined;
    const request = {
      workspaceId: this.#workspaceId,
      accountIds,
      content,
      force: isForced,
      ...(status === "scheduled" ? { scheduledAt: timestampFromDate(at) } : {}),
      ...(key === undefined ? {} : { idempotency: { key, fingerprint: "same" } }),
      isDraft: status === "draft",
    };
    let made: { id: string; targets: readonly { id: string }[] } | undefined;
    const reason = await this.#reasonOf(async () => (made = await this.#posts.createPost(request)));
    const targets = accountIds.map((accountId, index): ModelTarget => ({
      id: made?.targets[index]?.id ?? `none ${index}`,
      accountId,
      status: "pending",
      generation: 1,
      news: [0, 0],
      externalId: null,
      error: null,
      deletion: 0,
      deletionVersion: 0,
      dueDay: null,
      guard: null,
    }));
    const post = { id: made?.id ?? "none", status, content, targets };
    const dueDay = status === "draft" ? null : dayOf(at);
    const refusal = this.#model.create(post, { content, isForced, dueDay, limit: MONTHLY_QUOTA });
    assert.equal(reason, refusal);
    if (key !== undefined && made !== undefined) this.#keys.set(key, made.id);
    return this.#requests(refusal === undefined && status === "publishing" ? targets : []);
  }

  async #repeat(): Promise<Asked> {
    const keys = [...this.#keys];
    if (keys.length === 0) return this.#requests([]);
    const [key, id] = this.#pick(keys);
    const request = { workspaceId: this.#workspaceId, accountIds: [...this.#accounts] };
    const again = await this.#posts.createPost({
      ...request,
      idempotency: { key, fingerprint: "same" },
    });
    assert.equal(again.id, id);
    const other = { key, fingerprint: "other" };
    const reason = await this.#reasonOf(() =>
      this.#posts.createPost({ ...request, idempotency: other }),
    );
    assert.equal(reason, "idempotency_key_reused");
    return this.#requests([]);
  }

  async #update(): Promise<Asked> {
    const post = this.#pickPost(["draft", "scheduled"]);
    if (post === undefined) return this.#requests([]);
    const { id } = post;
    const content = this.#isLikely(0.7) ? this.#pick(CONTENTS) : post.content;
    const at = this.#isLikely(0.5) ? this.#soon() : undefined;
    const dueDay = at === undefined ? (post.targets[0]?.dueDay ?? null) : dayOf(at);
    const sent = at === undefined ? {} : { scheduledAt: timestampFromDate(at) };
    const reason = await this.#reasonOf(() =>
      this.#posts.posts.updatePost({ workspaceId: this.#workspaceId, id, content, ...sent }),
    );
    const wish = { content, dueDay, isForced: false, limit: MONTHLY_QUOTA };
    assert.equal(reason, this.#model.update(id, wish, at !== undefined));
    return this.#requests([]);
  }

  async #publish(): Promise<Asked> {
    const post = this.#pickPost();
    if (post === undefined) return this.#requests([]);
    const force = this.#isLikely(0.3);
    const ref = { workspaceId: this.#workspaceId, id: post.id };
    const reason = await this.#reasonOf(() => this.#posts.posts.publishPost({ ...ref, force }));
    const wish = { dueDay: dayOf(new Date()), isForced: force, limit: MONTHLY_QUOTA };
    const refusal = this.#model.publish(post.id, wish);
    assert.equal(reason, refusal);
    return this.#requests(refusal === undefined ? post.targets : []);
  }

  async #retry(): Promise<Asked> {
    const post = this.#pickPost(["failed", "partial"]);
    if (post === undefined) return this.#requests([]);
    const before = new Map(post.targets.map(({ id, generation }) => [id, generation]));
    const ref = { workspaceId: this.#workspaceId, id: post.id };
    const reason = await this.#reasonOf(() => this.#posts.posts.retryPost(ref));
    assert.equal(reason, this.#model.retry(post.id, dayOf(new Date()), MONTHLY_QUOTA));
    return this.#requests(post.targets.filter((it) => it.generation > (before.get(it.id) ?? 0)));
  }

  /** Tells the neighbours what delivery knows of a target. */
  #show({ id, generation }: ModelTarget, news: News | undefined): void {
    const { tasks, calling, closed } = this.#posts.neighbours;
    if (news === undefined) tasks.delete(id);
    else tasks.set(id, this.#toUpdate(news));
    if (this.#delivery.isCalling(id, generation)) calling.add(id);
    else calling.delete(id);
    if (this.#delivery.isClosed(id, generation)) closed.add(`${id} ${generation}`);
  }

  async #delete(): Promise<Asked> {
    const post = this.#pickPost();
    if (post === undefined) return this.#requests([]);
    const { neighbours } = this.#posts;
    const isPublishing = post.status === "publishing";
    const open = post.targets.filter(
      ({ status }) => status === "pending" || status === "publishing",
    );
    for (const it of open) this.#show(it, this.#delivery.hasEnded(it.id, it.generation));
    const isRefused = open.some((it) => this.#delivery.isCalling(it.id, it.generation));
    const hasCrashed = isPublishing && !isRefused && this.#isLikely(0.3);
    neighbours.onCancel = () =>
      hasCrashed ? Promise.reject(new Error("gone")) : Promise.resolve(undefined);
    const ref = { workspaceId: this.#workspaceId, id: post.id };
    const reason = await this.#reasonOf(() => this.#posts.posts.deletePost(ref));
    if (isPublishing && !isRefused) this.#close(open, hasCrashed);
    const deletions = new Map(post.targets.map(({ id, deletion }) => [id, deletion]));
    const refusal = this.#model.delete(post.id, !isRefused, hasCrashed);
    if (hasCrashed) assert.ok(reason !== undefined);
    else assert.equal(reason, refusal);
    const remove = post.targets.filter(({ id, deletion }) => deletion > (deletions.get(id) ?? 0));
    return { publish: [], remove: remove.map(({ id, deletion }) => `${id} ${deletion}`) };
  }

  #close(open: readonly ModelTarget[], hasCrashed: boolean): void {
    for (const { id, generation } of open) {
      const ended = this.#delivery.hasEnded(id, generation);
      if (ended === undefined) this.#delivery.close(id, generation);
      else if (!hasCrashed) this.#model.tell(ended);
    }
  }

  /** The time of a scheduled post comes; nobody looked for more than a day, or somebody did. */
  async #due(): Promise<Asked> {
    const scheduled = [...this.#model.posts.values()].filter(
      ({ status }) => status === "scheduled",
    );
    if (scheduled.length === 0) return this.#requests([]);
    const post = this.#pick(scheduled);
    const isMissed = this.#isLikely(0.2);
    const agoMs = isMissed ? 25 * HOUR_MS : 1000;
    const { sql } = this.#posts;
    await sql`
      update posts set scheduled_at = now() - ${agoMs}::float8 * interval '1 millisecond' where id = ${post.id}`;
    await sql`
      update targets
      set due_at = now() - ${agoMs}::float8 * interval '1 millisecond', last_news_at = now()
      where post_id = ${post.id}`;
    const missed = { sql, missedAfterMs: 24 * HOUR_MS, nudgeRelay: () => {} };
    const counts = [await this.#posts.startDue(), await failMissedBatch(missed)];
    assert.deepEqual(counts, isMissed ? [0, 1] : [1, 0]);
    if (isMissed) this.#model.miss(post.id);
    else this.#model.start(post.id);
    return this.#requests(isMissed ? [] : post.targets);
  }

  /** A request reaches delivery, late, twice or never. */
  async #takeRequest(): Promise<Asked> {
    const index = Math.floor(this.#random() * this.#inbox.length);
    const request = this.#inbox[index];
    if (request === undefined) return this.#requests([]);
    if (this.#isLikely(0.9)) this.#inbox.splice(index, 1);
    const [id = "", generation = ""] = request.split(" ");
    const news = this.#isLikely(0.8) ? this.#delivery.request(id, Number(generation)) : undefined;
    if (news !== undefined) this.#wire.push(news);
    return this.#requests([]);
  }

  async #advance(): Promise<Asked> {
    const tasks = this.#delivery
      .tasks()
      .filter(({ news }) => news.status !== "published" || this.#isLikely(0.1));
    if (tasks.length > 0) {
      const news = this.#delivery.advance(this.#pick(tasks), this.#random());
      if (news !== undefined) this.#wire.push(news);
    }
    for (const news of this.#delivery.deletions()) {
      const next = this.#isLikely(0.1)
        ? this.#delivery.advanceDeletion(news, this.#random())
        : undefined;
      if (next !== undefined) this.#deletionWire.push(next);
    }
    return this.#requests([]);
  }

  /** Takes some news off the wire in any order; some of it stays and comes again, some is lost. */
  #takeNews<T>(wire: readonly T[]): { readonly taken: T[]; readonly left: T[] } {
    const taken: T[] = [];
    const left: T[] = [];
    for (const item of wire) {
      const luck = this.#random();
      if (luck < 0.35) taken.push(item);
      if (luck > 0.2 && luck < 0.95) left.push(item);
    }
    for (let index = taken.length - 1; index > 0; index -= 1) {
      const other = Math.floor(this.#random() * (index + 1));
      const [a, b] = [taken[index], taken[other]];
      if (a !== undefined && b !== undefined) [taken[index], taken[other]] = [b, a];
    }
    return { taken, left };
  }

  #toUpdate({ targetId, generation, version, status, externalId, error }: News) {
    return create(TargetUpdatedSchema, {
      workspaceId: this.#workspaceId,
      targetId,
      generation,
      version: BigInt(version),
      status,
      postId: this.#model.target(targetId)?.post.id ?? newWorkspace(),
      ...(externalId === null ? {} : { externalId, publishedAt: PUBLISHED_AT }),
      ...(error === null ? {} : { errorCode: error }),
    });
  }

  #toDeletion({ targetId, deletion, version, status }: DeletionNews) {
    const postId = this.#model.target(targetId)?.post.id ?? newWorkspace();
    const workspaceId = this.#workspaceId;
    const body = { workspaceId, postId, targetId, deletion, version: BigInt(version), status };
    return create(DeletionUpdatedSchema, body);
  }

  async #tellNews(): Promise<Asked> {
    const { taken, left } = this.#takeNews(this.#wire);
    this.#wire = left;
    const before = new Map(this.#model.targets().map(({ id, deletion }) => [id, deletion]));
    await this.#posts.tell(taken.map((news) => this.#toUpdate(news)));
    for (const news of taken) this.#model.tell(news);
    return { publish: [], remove: this.#newDeletions(before) };
  }

  #newDeletions(before: ReadonlyMap<string, number>): string[] {
    return this.#model
      .targets()
      .filter(({ id, deletion }) => deletion > (before.get(id) ?? 0))
      .map(({ id, deletion }) => `${id} ${deletion}`);
  }

  async #tellDeletions(): Promise<Asked> {
    const { taken, left } = this.#takeNews(this.#deletionWire);
    this.#deletionWire = left;
    await this.#posts.tellDeletions(taken.map((news) => this.#toDeletion(news)));
    for (const news of taken) this.#model.tellDeletion(news);
    return this.#requests([]);
  }

  async #sweep(): Promise<Asked> {
    const { deletions } = this.#posts.neighbours;
    const news: News[] = [];
    const deleted: DeletionNews[] = [];
    const before = new Map(this.#model.targets().map(({ id, deletion }) => [id, deletion]));
    const [lost, closed, lostDeletions]: [ModelTarget[], ModelTarget[], string[]] = [[], [], []];
    for (const { status: postStatus, targets } of this.#model.posts.values()) {
      for (const target of targets) {
        const { id, generation, deletion, status, error } = target;
        const told = this.#delivery.published(id) ?? this.#delivery.find(id, generation);
        this.#show(target, told);
        const isOpen = status === "pending" || status === "publishing";
        const isUnknown = status === "failed" && error === "outcome_unknown";
        if ((isOpen || isUnknown) && told !== undefined) news.push(told);
        else if (isOpen && postStatus === "publishing")
          (this.#delivery.isClosed(id, generation) ? closed : lost).push(target);
        const answer = this.#delivery.findDeletion(id, deletion);
        if (answer === undefined) deletions.delete(id);
        else deletions.set(id, this.#toDeletion(answer));
        if (status !== "deleting") continue;
        if (answer === undefined) lostDeletions.push(`${id} ${deletion}`);
        else deleted.push(answer);
      }
    }
    // Also what was heard of in this very moment.
    await this.#posts.sweep(-60_000);
    for (const item of news) this.#model.tell(item);
    for (const item of deleted) this.#model.tellDeletion(item);
    for (const { id } of closed) this.#model.reopen(id);
    const remove = [...lostDeletions, ...this.#newDeletions(before)];
    return { ...this.#requests([...lost, ...closed]), remove };
  }

  async #endGuards(): Promise<Asked> {
    await this.#posts.sql`
      update duplicate_guards set expires_at = now() - interval '1 second'
      where workspace_id = ${this.#workspaceId} and expires_at is not null`;
    this.#model.endGuards();
    return this.#requests([]);
  }

  async #compare(name: string, expected: Asked): Promise<void> {
    const asked = await this.#readEvents();
    assert.deepEqual(asked.publish.toSorted(), expected.publish.toSorted());
    assert.deepEqual(asked.remove.toSorted(), expected.remove.toSorted());
    this.#inbox.push(...asked.publish);
    for (const item of asked.remove) {
      const [id = "", deletion = ""] = item.split(" ");
      if (this.#isLikely(0.8)) this.#delivery.requestDeletion(id, Number(deletion));
    }
    const stored = await this.#readPosts();
    const wanted = [...this.#model.posts.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    assert.deepEqual(stored.map(toComparable), wanted.map(toExpected));
    for (const post of stored) this.#assertVersion(post);
    if (this.#isLikely(0.25))
      assert.deepEqual(await findQuotaDrift(this.#posts.sql, this.#workspaceId), []);
  }

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
    const rows = await this.#posts.sql<{ id: number; type: string; payload: string }[]>`
      select id, type, payload from outbox where id > ${this.#lastEvent} order by id`;
    this.#lastEvent = rows.at(-1)?.id ?? this.#lastEvent;
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
    return await this.#posts.sql<StoredPost[]>`
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
      where workspace_id = ${this.#workspaceId}
      order by post.id`;
  }
}

function toComparable({ id, status, content, targets }: StoredPost) {
  const plain = targets.map(({ taskGeneration, taskVersion, ...target }) => ({
    ...target,
    news: [taskGeneration, taskVersion],
  }));
  return { id, status, content, targets: plain };
}

function toExpected({ targets, ...post }: ModelPost) {
  const hashed = targets.map(({ guard, ...target }) => ({
    ...target,
    guard: guard === null ? null : contentHash(guard, []),
  }));
  return { ...post, targets: hashed };
}
