import com.example.login.CodeInMessage
import java.io.File
import kotlin.system.exitProcess
import org.json.JSONObject

fun main(arguments: Array<String>) {
    val table = JSONObject(File(arguments[0]).readText())
    var failed = 0
    val messages = table.getJSONArray("messages")
    for (message in (0 until messages.length()).map(messages::getJSONObject)) {
        val wanted = if (message.has("read")) message.get("read") else message.get("code")
        val read = CodeInMessage.read(message.getString("text"), message.optString("domain", table.getString("domain"))) ?: JSONObject.NULL
        if (read == wanted) continue
        failed++
        println("not ok  ${message.getString("text")}: $read, not $wanted")
    }
    println("Kotlin: $failed of ${messages.length()} messages are not read as the table has them")
    exitProcess(if (failed == 0) 0 else 1)
}
