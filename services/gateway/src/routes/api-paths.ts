/** The prefix of every path of the API. */
export const API_PATH = "/api/v1";
export const DESCRIPTION_PATH = `${API_PATH}/openapi.json`;
