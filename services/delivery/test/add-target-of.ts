import type { Publication } from "@postrider/platforms/publishing/publication";
import type { TestTarget, World } from "./fixture.ts";

/** Adds a target of the account, as the posts service and the accounts service describe the target to a worker. */
export function addTargetOf(
  world: World,
  { text, title, privacy, externalId, username, accessToken }: Publication,
  given: Pick<TestTarget, "platform" | "media">,
): TestTarget {
  const target = world.addTarget({
    ...given,
    text,
    ...(title === undefined ? {} : { title }),
    ...(privacy === undefined ? {} : { privacy }),
  });
  Object.assign(world.account(target), { externalId, username, token: accessToken });
  return target;
}
