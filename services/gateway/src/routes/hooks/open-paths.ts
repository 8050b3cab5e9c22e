export const API_PATH = "/api/v1";
const DESCRIPTION_PATH = `${API_PATH}/openapi.json`;

/** The API description needs no key; everything else under the prefix does, unknown paths too. */
export function isOpenPath(url: string): boolean {
  return url === DESCRIPTION_PATH || url.startsWith(`${DESCRIPTION_PATH}?`);
}
