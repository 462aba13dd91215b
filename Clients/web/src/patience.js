// Calls that are a part of something longer, which a rate must not break off.

/** Calls again when a rate was exceeded, after the time that the server names. */
export async function patiently(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (error.code !== -10021 || !error.retryAfter) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter));
    }
  }
}
