import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./check/run-command.ts";
import {
  resolveDigest,
  findImages,
  findUnpinned,
  listImageFiles,
  pinImages,
  readImageFile,
  toTag,
} from "./images/base-images.ts";

// Pins third-party container images by the digests that their tags have now. Run it after a tag was
// changed, or to take in the security updates of the same tag:
//   npm run pin-images
// With --check it changes nothing and fails when an image is not pinned, or its tag has another
// digest now.
const isCheck = process.argv.includes("--check");
try {
  const texts = new Map(listImageFiles().map((file) => [file, readImageFile(file)]));
  const tags = new Set([...texts.values()].flatMap(findImages).map(toTag));
  const digests = new Map<string, string>();
  for (const tag of tags) digests.set(tag, await resolveDigest(tag));
  for (const [file, text] of texts) {
    const pinned = pinImages(text, digests);
    if (pinned === text) continue;
    const unpinned = findUnpinned(text);
    process.stdout.write(
      `${file}: ${unpinned.length > 0 ? `not pinned: ${unpinned.join(", ")}` : "a tag has a newer image"}\n`,
    );
    if (isCheck) process.exitCode = 1;
    else writeFileSync(join(root, file), pinned);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
