package com.example.login

import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import android.content.IntentFilter
import android.os.Bundle
import androidx.activity.ComponentActivity
import androidx.activity.result.contract.ActivityResultContracts
import androidx.core.content.ContextCompat
import androidx.core.content.IntentCompat
import androidx.lifecycle.DefaultLifecycleObserver
import androidx.lifecycle.LifecycleOwner
import com.google.android.gms.auth.api.phone.SmsRetriever
import com.whatsapp.otp.android.sdk.WhatsAppOtpHandler
import com.whatsapp.otp.android.sdk.WhatsAppOtpIncomingIntentHandler

/**
 * Waits for the code of one send, by SMS and by WhatsApp. Create it with the activity, and call [start] before each send:
 * each wait is for one message, of the next five minutes (SMS) or ten (WhatsApp).
 *
 * @param hasAppHash whether the project has `--app-hash`. Without it the person is asked whether the app may read the SMS
 * @param domain `--webotp-domain` of the project, if it has one
 */
class IncomingCode(
    private val activity: ComponentActivity,
    private val hasAppHash: Boolean,
    private val domain: String?,
    private val onCode: (String) -> Unit,
) : BroadcastReceiver(), DefaultLifecycleObserver {
    private val consent = activity.registerForActivityResult(ActivityResultContracts.StartActivityForResult()) {
        it.data?.getStringExtra(SmsRetriever.EXTRA_SMS_MESSAGE)?.let(::take)
    }

    init {
        activity.lifecycle.addObserver(this)
    }

    fun start() {
        val client = SmsRetriever.getClient(activity)
        if (hasAppHash) client.startSmsRetriever() else client.startSmsUserConsent(null)
        WhatsAppCode.expect(activity)
    }

    /** A message without one code in it changes nothing: the person types. */
    private fun take(message: String) {
        CodeInMessage.read(message, domain)?.let(onCode)
    }

    override fun onCreate(owner: LifecycleOwner) {
        // Only Google Play services hold this permission, so no other app can pass us a message.
        ContextCompat.registerReceiver(
            activity, this, IntentFilter(SmsRetriever.SMS_RETRIEVED_ACTION),
            SmsRetriever.SEND_PERMISSION, null, ContextCompat.RECEIVER_EXPORTED,
        )
        WhatsAppCode.onCode = onCode
    }

    override fun onDestroy(owner: LifecycleOwner) {
        activity.unregisterReceiver(this)
        if (WhatsAppCode.onCode === onCode) WhatsAppCode.onCode = null
    }

    override fun onReceive(context: Context, intent: Intent) {
        val message = intent.getStringExtra(SmsRetriever.EXTRA_SMS_MESSAGE)
        if (message != null) {
            take(message)
        } else {
            // With neither, the five minutes are over.
            IntentCompat.getParcelableExtra(intent, SmsRetriever.EXTRA_CONSENT_INTENT, Intent::class.java)
                ?.let(consent::launch)
        }
    }
}

/** The code of a one-tap or zero-tap template. Only an intent with the id of our own handshake is taken. */
object WhatsAppCode {
    var onCode: ((String) -> Unit)? = null
    private var handshake: String? = null

    /** The handshake: tells WhatsApp, before the send, that this app expects a code. */
    fun expect(context: Context) {
        handshake = WhatsAppOtpHandler().sendOtpIntentToWhatsApp(context).toString()
    }

    fun take(intent: Intent) {
        val expected = handshake ?: return
        WhatsAppOtpIncomingIntentHandler().processOtpCode(
            intent, expected, { code -> onCode?.invoke(code) }, { _, _ -> /* The person types. */ },
        )
    }
}

/** Zero-tap: WhatsApp hands over the code by itself. */
class WhatsAppReceiver : BroadcastReceiver() {
    override fun onReceive(context: Context, intent: Intent) = WhatsAppCode.take(intent)
}

/** One-tap: the person taps Autofill in WhatsApp, and comes back to the login. */
class WhatsAppActivity : ComponentActivity() {
    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        WhatsAppCode.take(intent)
        packageManager.getLaunchIntentForPackage(packageName)
            ?.let { startActivity(it.addFlags(Intent.FLAG_ACTIVITY_REORDER_TO_FRONT)) }
        finish()
    }
}
