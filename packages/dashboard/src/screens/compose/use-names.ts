import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import { useComposition } from "./composition.ts";

/** Names for sentences: an account is called by its platform, unless that is chosen twice. */
export function useNames() {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const { writers, chosen } = useComposition();
  const nameOf = (accountId: string | undefined): string => {
    const writer = writers.find(({ id }) => id === accountId);
    if (writer === undefined) return "";
    const isTwice = chosen.filter(({ platform }) => platform === writer.platform).length > 1;
    return isTwice ? accountNameOf(writer) : PLATFORMS[writer.platform].name;
  };
  return { words, language, nameOf };
}
