import fc from "fast-check";
import { expect, test } from "vitest";
import { readMembers } from "#src/http/read-members.ts";

const LIMITS = { maxBytes: 1_000_000, maxMemberBytes: 100_000, maxMembers: 1_000 };

/** Cuts a text into pieces of the given sizes, of which the last one repeats. */
async function* inPieces(text: string, sizes: readonly number[]) {
  const bytes = Buffer.from(text);
  let at = 0;
  for (let piece = 0; at < bytes.length; piece += 1) {
    const size = sizes[Math.min(piece, sizes.length - 1)] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(
  text: string,
  { sizes = [1_000], ...limits }: { sizes?: readonly number[] } & Partial<typeof LIMITS> = {},
) {
  const members: unknown[] = [];
  const onMember = (member: unknown) => members.push(member);
  const place = { object: "thread", list: "replies" };
  const answer = await readMembers(inPieces(text, sizes), {
    ...place,
    ...LIMITS,
    ...limits,
    onMember,
  });
  return { members, answer: JSON.parse(answer.text) as unknown, isComplete: answer.isComplete };
}

test("the members of a list are read one by one, whatever they contain and wherever the answer is cut into pieces", async () => {
  const answers = fc.record({
    members: fc.array(fc.jsonValue()),
    before: fc.jsonValue(),
    after: fc.jsonValue(),
    sizes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
    space: fc.constantFrom(0, 2),
  });
  await fc.assert(
    fc.asyncProperty(answers, async ({ members, before, after, sizes, space }) => {
      const thread = { post: { replies: [before], thread: before }, replies: members, after };
      const text = JSON.stringify({ before, thread, replies: [after] }, null, space);
      expect(await read(text, { sizes })).toEqual(
        JSON.parse(
          JSON.stringify({
            members,
            answer: { before, thread: { ...thread, replies: [] }, replies: [after] },
            isComplete: true,
          }),
        ),
      );
    }),
  );
});

const manyReplies = (count: number, text = "reply") =>
  JSON.stringify({
    thread: {
      post: { uri: "post" },
      replies: Array.from({ length: count }, (_, id) => ({ id, text })),
    },
  });
const EMPTY = { thread: { post: { uri: "post" }, replies: [] } };

test("a list that is larger than the limit is read up to the limit", async () => {
  const found = await read(manyReplies(1_000), { maxBytes: 5_000 });
  expect(found.members.length).toBeGreaterThan(150);
  expect(found).toMatchObject({ answer: EMPTY, isComplete: false });
  expect(await read(manyReplies(100), { maxMembers: 10 })).toMatchObject({
    members: { length: 10 },
    answer: EMPTY,
    isComplete: false,
  });
});

test("a member that is larger than the limit is left out, and the members after it are read", async () => {
  const text = manyReplies(3).replace('reply"},', `${"x".repeat(200_000)}"},`);
  const { members, answer, isComplete } = await read(text);
  expect(members).toEqual([1, 2].map((id) => ({ id, text: "reply" })));
  expect([answer, isComplete]).toEqual([EMPTY, false]);
});

test("an answer without the list is read as a whole", async () => {
  const answer = { error: "NotFound", message: "Post not found" };
  expect(await read(JSON.stringify(answer))).toEqual({ members: [], answer, isComplete: true });
});
