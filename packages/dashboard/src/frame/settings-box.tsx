import { Keyboard } from "lucide-react";
import { queryClient } from "../api/query-client.ts";
import { Button } from "../kit/button.tsx";
import { Switch } from "../kit/field.tsx";
import { Segments } from "../kit/segments.tsx";
import { changeSettings, type Language, type Theme, useSettings } from "../settings/settings.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./frame.module.css";

/** What the server has put into words is read again. */
function changeLanguage(language: Language): void {
  changeSettings({ language });
  void queryClient.invalidateQueries();
}

/** What a reader sets for this browser; it takes effect at once. */
export function SettingsBox({ onShowKeys }: { readonly onShowKeys: () => void }) {
  const words = useWords(frameWords);
  const { theme, language, letterKeys } = useSettings();
  return (
    <div className={css.box}>
      <div className="stack-s">
        <h3>{words.theme}</h3>
        <Segments<Theme>
          label={words.theme}
          value={theme}
          onChange={(value) => changeSettings({ theme: value })}
          segments={[
            { value: "system", label: words.themes.system },
            { value: "light", label: words.themes.light },
            { value: "dark", label: words.themes.dark },
          ]}
        />
      </div>
      <div className="stack-s">
        <h3>{words.language}</h3>
        <Segments<Language>
          label={words.language}
          value={language}
          onChange={changeLanguage}
          segments={[
            { value: "en", label: <span lang="en">English</span> },
            { value: "ko", label: <span lang="ko">한국어</span> },
          ]}
        />
      </div>
      <Switch
        checked={letterKeys}
        onChange={({ target }) => changeSettings({ letterKeys: target.checked })}
      >
        {words.letterKeys}
      </Switch>
      <Button icon={Keyboard} shortcut="?" block onClick={onShowKeys}>
        {words.allKeys}
      </Button>
    </div>
  );
}
