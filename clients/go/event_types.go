package dwar

import "encoding/json"

// EventType is the type of an event, as listed in docs/events.md.
type EventType string

// The types of events. Those of a relay are about a code that you made yourself.
const (
	EventOTPSent          EventType = "otp.sent"
	EventOTPDelivered     EventType = "otp.delivered"
	EventOTPFailed        EventType = "otp.failed"
	EventOTPVerified      EventType = "otp.verified"
	EventOTPUnderAttack   EventType = "otp.under_attack"
	EventRelaySent        EventType = "relay.sent"
	EventRelayDelivered   EventType = "relay.delivered"
	EventRelayFailed      EventType = "relay.failed"
	EventSessionRevoked   EventType = "session.revoked"
	EventIdentityDeleted  EventType = "identity.deleted"
	EventWalletLow        EventType = "wallet.low"
	EventSpendReached     EventType = "spend.reached"
	EventGuardEmptied     EventType = "guard.emptied"
	EventEndpointDisabled EventType = "endpoint.disabled"
	EventProviderFailing  EventType = "provider.failing"
	EventAlertOpened      EventType = "alert.opened"
	EventAlertResolved    EventType = "alert.resolved"
	EventWebhookTest      EventType = "webhook.test"
)

// EventData is one of *OTPEvent, *SessionEvent, *IdentityEvent, *WalletEvent, *SpendEvent, *GuardEvent,
// *EndpointEvent, *ProviderEvent, *AlertEvent, *WebhookTestEvent and UnknownEvent:
//
//	switch data := event.Data.(type) {
//	case *dwar.OTPEvent:
//		fmt.Println(event.Type, data.OTPID)
//	}
type EventData interface{ eventData() }

// EventProject has the members of every event.
type EventProject struct {
	ProjectID string `json:"project_id"`
	// Mode is live or test.
	Mode string `json:"mode"`
}

func (*EventProject) eventData() {}

// OTPEvent is of EventOTP… and EventRelay….
type OTPEvent struct {
	EventProject
	OTPID string `json:"otp_id"`
	// Channel carried the code, or was tried last: whatsapp or sms, empty if none is known.
	Channel string `json:"channel,omitempty"`
	// Phone is masked, unless the endpoint gets full numbers; empty after the person was erased.
	Phone string `json:"phone,omitempty"`
}

// SessionEvent is of EventSessionRevoked.
type SessionEvent struct {
	EventProject
	SessionID  string `json:"session_id"`
	IdentityID string `json:"identity_id"`
}

// IdentityEvent is of EventIdentityDeleted.
type IdentityEvent struct {
	EventProject
	IdentityID      string `json:"identity_id"`
	SessionsRevoked int64  `json:"sessions_revoked"`
}

// WalletEvent is of EventWalletLow.
type WalletEvent struct {
	EventProject
	BalancePaise   int64 `json:"balance_paise"`
	ThresholdPaise int64 `json:"threshold_paise"`
}

// SpendEvent is of EventSpendReached.
type SpendEvent struct {
	EventProject
	// Percent is the part of the limit that is reached: 50, 80 or 100.
	Percent    int   `json:"percent"`
	SpentPaise int64 `json:"spent_paise"`
	LimitPaise int64 `json:"limit_paise"`
}

// GuardEvent is of EventGuardEmptied.
type GuardEvent struct {
	EventProject
	// Subject is what the level is of: address, series or project.
	Subject string `json:"subject"`
	// Guard is the mode of the guard: watch or enforce.
	Guard string `json:"guard"`
}

// EndpointEvent is of EventEndpointDisabled.
type EndpointEvent struct {
	EventProject
	WebhookID string `json:"webhook_id"`
	Failures  int64  `json:"failures"`
	// FailingSince is RFC 3339 in UTC.
	FailingSince string `json:"failing_since"`
}

// ProviderEvent is of EventProviderFailing.
type ProviderEvent struct {
	EventProject
	Provider string `json:"provider"`
	Failed   int64  `json:"failed"`
	Receipts int64  `json:"receipts"`
}

// AlertEvent is of EventAlertOpened and EventAlertResolved.
type AlertEvent struct {
	EventProject
	// Alert is the kind of the alert, such as wallet_empty.
	Alert string `json:"alert"`
	// Severity is page or ticket.
	Severity string `json:"severity"`
	// WebhookID is nil unless the alert is about an endpoint.
	WebhookID *string `json:"webhook_id"`
	// Since is RFC 3339 in UTC.
	Since string `json:"since"`
}

// WebhookTestEvent is of EventWebhookTest.
type WebhookTestEvent struct {
	EventProject
	WebhookID string `json:"webhook_id"`
}

// UnknownEvent is the JSON of an event that this version does not know.
type UnknownEvent json.RawMessage

func (UnknownEvent) eventData() {}

var newEventData = map[EventType]func() EventData{
	EventOTPSent:          func() EventData { return new(OTPEvent) },
	EventOTPDelivered:     func() EventData { return new(OTPEvent) },
	EventOTPFailed:        func() EventData { return new(OTPEvent) },
	EventOTPVerified:      func() EventData { return new(OTPEvent) },
	EventOTPUnderAttack:   func() EventData { return new(OTPEvent) },
	EventRelaySent:        func() EventData { return new(OTPEvent) },
	EventRelayDelivered:   func() EventData { return new(OTPEvent) },
	EventRelayFailed:      func() EventData { return new(OTPEvent) },
	EventSessionRevoked:   func() EventData { return new(SessionEvent) },
	EventIdentityDeleted:  func() EventData { return new(IdentityEvent) },
	EventWalletLow:        func() EventData { return new(WalletEvent) },
	EventSpendReached:     func() EventData { return new(SpendEvent) },
	EventGuardEmptied:     func() EventData { return new(GuardEvent) },
	EventEndpointDisabled: func() EventData { return new(EndpointEvent) },
	EventProviderFailing:  func() EventData { return new(ProviderEvent) },
	EventAlertOpened:      func() EventData { return new(AlertEvent) },
	EventAlertResolved:    func() EventData { return new(AlertEvent) },
	EventWebhookTest:      func() EventData { return new(WebhookTestEvent) },
}

// eventData reads data as its type says. Data that it cannot read becomes an UnknownEvent: the event is not refused.
func eventData(kind EventType, data json.RawMessage) EventData {
	if newData := newEventData[kind]; newData != nil {
		if known := newData(); json.Unmarshal(data, known) == nil {
			return known
		}
	}
	return UnknownEvent(data)
}
