import { loginEn } from "./words-en.ts";
import { loginKo } from "./words-ko.ts";

export const loginWords = { en: loginEn, ko: loginKo };
