package com.example.login

import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import org.json.JSONObject

/**
 * The login contract as an app calls it: nothing of a browser in the request, tokens in the body. The calls block, so
 * make them on `Dispatchers.IO`.
 *
 * @param base where the backend mounts it, such as `https://shop.example/login`
 */
class LoginApi(private val base: String) {
    /** A refusal that the person can be told: [code] is of the contract, [retryAfter] in seconds. */
    class Refused(val code: String, message: String, val retryAfter: Int?) : IOException(message)

    /**
     * Keep them where other apps cannot read them, such as in a file that a key of the Android Keystore encrypts. The
     * device, if verify gives one, also after a logout: the next login gives it to send and verify.
     */
    class Tokens(val access: String, val refresh: String, val device: String?)

    /** Sends a code, and returns the `otp_id` for verify. After the refusal `PROOF_REQUIRED` it needs a proof. */
    fun send(phone: String, device: String? = null, proof: String? = null): String =
        call("send", "phone" to phone, "device" to device, "proof" to proof).getString("otp_id")

    fun verify(phone: String, code: String, otpId: String, device: String? = null): Tokens =
        tokens(
            call("verify", "phone" to phone, "code" to code, "otp_id" to otpId, "device" to device, "tokens" to "body"),
        )

    fun refresh(refreshToken: String): Tokens =
        tokens(call("refresh", "refresh_token" to refreshToken, "tokens" to "body"))

    fun logout(tokens: Tokens) {
        call("logout", "access_token" to tokens.access, "refresh_token" to tokens.refresh)
    }

    private fun tokens(answer: JSONObject) =
        Tokens(
            answer.getString("access_token"),
            answer.getString("refresh_token"),
            answer.optString("device").ifEmpty { null },
        )

    private fun call(path: String, vararg fields: Pair<String, String?>): JSONObject {
        val connection = URL("$base/$path").openConnection() as HttpURLConnection
        try {
            connection.requestMethod = "POST"
            connection.instanceFollowRedirects = false
            connection.connectTimeout = 10_000
            connection.readTimeout = 40_000
            connection.setRequestProperty("Content-Type", "application/json")
            connection.doOutput = true
            connection.outputStream.use { it.write(JSONObject(mapOf(*fields).filterValues { value -> value != null }).toString().toByteArray()) }
            val ok = connection.responseCode in 200..299
            val stream = if (ok) connection.inputStream else connection.errorStream
            val text = stream?.use { it.readBytes().decodeToString() }.orEmpty()
            if (ok) return JSONObject(text.ifEmpty { "{}" })
            val refusal = runCatching { JSONObject(text) }.getOrDefault(JSONObject())
            throw Refused(
                refusal.optString("code", "LOGIN_UNAVAILABLE"),
                refusal.optString("error"),
                connection.getHeaderField("Retry-After")?.toIntOrNull(),
            )
        } finally {
            connection.disconnect()
        }
    }
}
